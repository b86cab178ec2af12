package import BLEWire

/// A timeline that grows while events are recorded, for pages that show them as they happen.
///
/// It takes events from a ``TimelineBuilder``, and keeps them in the order in which they were taken. This is the order
/// of time, except for events that were recorded late. When the timeline has ``mostEvents``, it drops all events and
/// starts over; the builder keeps the names of attributes that it has learnt.
package struct LiveTimeline: Sendable {
    /// The number of events after which the timeline starts over.
    package static let mostEvents = 50_000
    /// The number of events that the search for failures may look at.
    private static let mostSteps = 2_000_000

    private let limit: Int
    private(set) var timeline = Timeline()
    /// The number of times that the timeline has started, including the first time.
    private(set) var generation = 1
    /// The causes of failures, as of the last call of ``explain()``.
    private(set) var findings: [FailureFinding] = []
    /// The number of times that ``findings`` has changed.
    private(set) var findingsVersion = 0
    /// The timeline's index for each of the builder's events; -1 if the event has not been taken yet.
    private var places: [Int] = []
    /// The builder's indices of the events that were still in the future when ``take(from:until:)`` was last called.
    private var pending: [Int] = []
    private var explained = 0

    /// Creates an empty timeline.
    ///
    /// - Parameter limit: The number of events after which the timeline starts over.
    package init(limit: Int = LiveTimeline.mostEvents) { self.limit = limit }

    /// The number of events since the timeline last started.
    package var count: Int { timeline.events.count }

    /// Takes the new events of a builder.
    ///
    /// - Parameters:
    ///   - builder: The builder, always the same one. Its events are dropped when the timeline starts over.
    ///   - now: The present. Later events, such as packets on the air of a world, stay in the builder.
    /// - Returns: True if the timeline has new events.
    package mutating func take(from builder: inout TimelineBuilder, until now: Instant) -> Bool {
        if builder.timeline.events.count >= limit {
            builder.dropEvents()
            self = beginning()
        }
        let events = builder.timeline.events
        pending += places.count..<events.count
        places += Array(repeating: -1, count: events.count - places.count)
        let ready = pending.filter { events[$0].time <= now.nanoseconds }.sorted {
            (events[$0].time, $0) < (events[$1].time, $1)
        }
        pending.removeAll { events[$0].time <= now.nanoseconds }
        for place in ready {
            var event = events[place]
            event.packet = event.packet.flatMap { places[$0] < 0 ? nil : places[$0] }
            places[place] = timeline.events.count
            timeline.events.append(event)
        }
        timeline.sources = builder.timeline.sources
        timeline.series = builder.timeline.series
        timeline.remarks = builder.timeline.remarks
        timeline.omitted = builder.timeline.omitted
        timeline.isWorld = builder.timeline.isWorld
        timeline.end = timeline.isWorld ? now.nanoseconds : nil
        return !ready.isEmpty
    }

    /// Finds the causes of failures, if there are new events since the last call; returns true if the causes have
    /// changed.
    package mutating func explain() -> Bool {
        guard explained != timeline.events.count else { return false }
        explained = timeline.events.count
        let found = FailureRule.findings(in: timeline, steps: Self.mostSteps)
        guard found != findings else { return false }
        findings = found
        findingsVersion += 1
        return true
    }

    /// Returns the empty timeline of the next generation.
    private func beginning() -> Self {
        var next = Self(limit: limit)
        next.generation = generation + 1
        next.findingsVersion = findingsVersion + 1
        return next
    }
}

/// The parts of a ``LiveTimeline`` that one browser has not received yet.
///
/// A browser that is slow receives the same events later; nothing is stored for it except its position.
package struct LivePage: Sendable {
    /// The maximum number of events in a part.
    private static let mostEvents = 1_000

    private var encoder = EventEncoder()
    private var generation = 0
    private var count = 0
    private var sources = 0
    private var findingsVersion = 0
    private var points: [Int] = []

    /// Creates a page that has not received anything yet.
    package init() {}

    /// Returns the next part as JSON without line breaks; `nil` if the browser has received everything.
    package mutating func part(of live: LiveTimeline) -> String? {
        let timeline = live.timeline
        let isReset = generation != live.generation
        if isReset {
            self = Self()
            generation = live.generation
        }
        let hasFindings = findingsVersion != live.findingsVersion
        let hasPoints = timeline.series.indices.contains { received($0) < timeline.series[$0].points.count }
        guard isReset || hasFindings || hasPoints || count < timeline.events.count else { return nil }
        let start = timeline.start, texts = encoder.strings.count, shapes = encoder.shapes.count
        let events = timeline.events[count...].prefix(Self.mostEvents)
        let rows = events.map { encoder.row($0, from: start) }
        let names = timeline.sources[sources...].map(PageText.quoted)
        let series = timeline.series.indices.map { index in
            let all = timeline.series[index].points
            return PageText.object(timeline.series[index], all[received(index)...], from: start)
        }
        count += events.count
        sources = timeline.sources.count
        points = timeline.series.map(\.points.count)
        var part = """
            {"reset":\(isReset),"start":\(timeline.isWorld ? 0 : start / 1_000_000),"omitted":\(timeline.omitted),\
            "remarks":\(PageText.list(timeline.remarks.map(PageText.quoted))),"sources":\(PageText.list(names)),\
            "series":\(PageText.list(series)),"shapes":\(PageText.list(Array(encoder.shapes[shapes...]))),\
            "strings":\(PageText.list(encoder.strings[texts...].map(PageText.quoted))),\
            "events":\(PageText.list(rows))
            """
        // The causes refer to events, so they are sent after all events.
        if hasFindings, count == timeline.events.count {
            findingsVersion = live.findingsVersion
            part += ",\"findings\":\(PageText.list(live.findings.map(PageText.object)))"
        }
        return String(decoding: part.utf8.map { $0 == 0x0A ? 0x20 : $0 }, as: UTF8.self) + "}"
    }

    /// Returns the number of points that the browser has received for a series.
    private func received(_ series: Int) -> Int {
        points.indices.contains(series) ? points[series] : 0
    }
}
