package import BLERuntime
package import BLEWire

/// A builder of a ``Timeline`` from the packets and comments of a capture, and from packets on the air of a world.
///
/// Packets and comments must be added in the order in which they happened; packets on the air may be added ahead of
/// their time. The builder accepts any octets and texts. Everything that it stores has a limit.
package struct TimelineBuilder: Sendable {
    /// The maximum number of events; later ones are only counted.
    package static let mostEvents = 250_000
    /// The maximum number of points per series.
    static let mostPoints = 100_000
    private static let mostSources = 256
    private static let mostSeries = 32
    private static let mostCharacters = 400

    var timeline = Timeline()
    var attributes: AttributeNames
    var relations = Relations()
    private var traces: [Int: HCITrace] = [:]
    var frames = LinkFrames()
    private var filter: KeyFilter?
    private var seriesIndex: [String: Int] = [:]

    /// Creates an empty builder.
    ///
    /// - Parameters:
    ///   - keys: True to keep the keys in packets; false to overwrite them with zeros.
    ///   - isWorld: True if times count from the beginning of a world.
    ///   - reading: Decodes a characteristic's value into readable text; returns `nil` if the value's format is
    ///     unknown.
    package init(
        keys: Bool = false,
        isWorld: Bool = false,
        reading: @escaping @Sendable (BluetoothUUID, [UInt8]) -> String? = { _, _ in nil }
    ) {
        filter = keys ? nil : KeyFilter()
        attributes = AttributeNames(reading: reading)
        timeline.isWorld = isWorld
    }

    /// Returns the timeline, with all events in the order of time.
    package consuming func finish() -> Timeline {
        var result = timeline
        // Packets on the air are calculated ahead of their time; the rest is in order already.
        let order = result.events.indices.sorted {
            (result.events[$0].time, $0) < (result.events[$1].time, $1)
        }
        var place = [Int](repeating: 0, count: order.count)
        for (new, old) in order.enumerated() { place[old] = new }
        result.events = order.map { old in
            var event = timeline.events[old]
            event.packet = event.packet.map { place[$0] }
            return event
        }
        return result
    }

    /// Drops the events, points, and open calls and requests; keeps what was learnt about attributes, links and
    /// machines.
    package mutating func dropEvents() {
        timeline.events = []
        timeline.omitted = 0
        for index in timeline.series.indices { timeline.series[index].points = [] }
        relations = Relations()
    }

    /// Adds an item of a capture.
    package mutating func add(_ item: CaptureReader.Item) {
        switch item {
        case .packet(let record): add(record)
        case .comment(let text, let source, let time): add(text: text, of: source, at: time)
        case .lost(let count, let source):
            guard timeline.remarks.count < 100 else { return }
            let place = source.machine.isEmpty ? "the capture" : source.machine
            timeline.remarks.append("\(count.withNoun("packet")) of \(place) \(count == 1 ? "is" : "are") missing.")
        }
    }

    /// Adds a packet after applying the filter, if any.
    ///
    /// If the packet is from a new source beyond ``mostSources``, it is only counted.
    package mutating func add(_ original: PacketRecord) {
        var (record, hidden): (PacketRecord, Range<Int>?) = (original, nil)
        if filter != nil, let result = filter?.filter(original) { (record, hidden) = (result.record, result.hidden) }
        guard let source = index(of: record.source) else { return }
        let isFromHost = record.direction == .toController
        let packet = traces[source, default: HCITrace()].dissect(
            h4: record.bytes,
            isFromHost: isFromHost,
            missing: record.missing
        )
        let layers = packet.layers + packet.completed
        var event = Timeline.Event(
            time: record.time.nanoseconds,
            track: .hci,
            source: source,
            title: layers.last { !$0.isMalformed && !$0.isCut }?.name ?? "Packet"
        )
        event.detail = isFromHost ? "to controller" : "to host"
        event.octets = Array(record.bytes.prefix(2_048))
        event.layers = hidden.map { KeyFilter.hide($0, in: layers) } ?? layers
        if packet.isMalformed { event.level = .warning }
        guard let place = append(event) else { return }
        describe(record, packet, place, source, isFromHost)
    }

    /// The words that introduce calls (true) and callbacks (false) in the comments of captures, including the words
    /// that earlier versions wrote.
    private static let directions: [Substring: Bool] = [
        "requests:": true, "receives:": false, "asks:": true, "hears:": false,
    ]

    /// Adds a comment of a capture.
    ///
    /// A comment that is written as a call ("app 3 requests: …") or as a callback ("app 3 receives: …") is added as
    /// one; any other comment is added as a note.
    package mutating func add(text: String, of source: PacketSource, at time: Instant) {
        guard let source = index(of: source) else { return }
        let parts = text.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count >= 3, parts[0] == "app", let client = Int(parts[1]), let isCall = Self.directions[parts[2]]
        else {
            _ = append(.init(time: time.nanoseconds, track: .app, source: source, title: "Note", detail: text))
            return
        }
        add(line: parts.count > 3 ? String(parts[3]) : "", isCall: isCall, of: client, source, at: time)
    }

    /// Adds an app's call (`isCall`) or callback.
    ///
    /// `line` contains the name of the method, followed by the other words.
    private mutating func add(line: String, isCall: Bool, of client: Int, _ source: Int, at time: Instant) {
        let step = String(line.prefix { $0 != " " }), words = String(line.dropFirst(step.count + 1))
        let error = isCall ? nil : words.range(of: "error: ").map { String(words[$0.upperBound...]) }
        var event = Timeline.Event(time: time.nanoseconds, track: .app, source: source, title: step, detail: words)
        event.level = error != nil ? .failure : isCall ? .call : .callback
        event.fact =
            isCall
            ? .call(step, words: words, client: client) : .callback(step, words: words, client: client, error: error)
        event.group =
            isCall
            ? relations.began(step, words, client, source, timeline.events.count)
            : relations.ended(step, words, client, source)
        _ = append(event)
    }

    /// Adds a point to a series, which is created with `unit` if it does not exist yet.
    ///
    /// The point is dropped if there are too many series, or too many points in this one.
    package mutating func sample(_ name: String, unit: String, _ value: Double, at time: Instant) {
        let index: Int
        if let known = seriesIndex[name] {
            index = known
        } else {
            guard timeline.series.count < Self.mostSeries else { return }
            index = timeline.series.count
            seriesIndex[name] = index
            timeline.series.append(.init(name: String(name.prefix(80)), unit: unit))
        }
        guard timeline.series[index].points.count < Self.mostPoints else { return }
        timeline.series[index].points.append((time.nanoseconds, value))
    }

    /// Adds a packet on the air.
    ///
    /// `strength` is the RSSI at the receiver in dBm, and `distance` is in metres. `isRepeated` is true if the sender
    /// has sent the same packet before.
    package mutating func addAir(
        _ title: String,
        from sender: String,
        to receiver: String,
        octets: [UInt8],
        isLost: Bool,
        strength: Int,
        distance: Double,
        isRepeated: Bool,
        at time: Instant
    ) {
        guard let source = index(of: PacketSource(machine: sender)) else { return }
        var event = Timeline.Event(time: time.nanoseconds, track: .air, source: source, title: title)
        let meters = (distance * 10).rounded() / 10
        let outcome = "\(isLost ? "lost" : "received")\(isRepeated ? ", sent again" : "")"
        event.detail = "to \(receiver), \(outcome), \(strength) dBm, \(meters) m"
        event.level = isLost ? .warning : .normal
        event.octets = octets
        let pair = [sender, receiver].sorted().joined(separator: " – ")
        if !isLost { samplePace("RSSI, \(sender) → \(receiver)", unit: "dBm", Double(strength), at: time) }
        if distance.isFinite { samplePace("\(pair)", unit: "m", distance, at: time) }
        event.fact = .air(isLost: isLost, strength: strength, distance: distance, receiver: receiver)
        _ = append(event)
    }

    /// Adds a point to a series, except in two cases.
    ///
    /// The point is dropped if it is less than 50 ms later than the last point of the series, or if the series contains
    /// distances and the distance has not changed.
    private mutating func samplePace(_ name: String, unit: String, _ value: Double, at time: Instant) {
        if let index = seriesIndex[name], let last = timeline.series[index].points.last,
            time.nanoseconds &- last.time < 50_000_000 || last.value == value && unit == "m"
        {
            return
        }
        sample(name, unit: unit, value, at: time)
    }

    /// Adds an event, and returns its index; `nil` if there is no room.
    @discardableResult
    mutating func append(_ event: Timeline.Event) -> Int? {
        guard timeline.events.count < Self.mostEvents else {
            timeline.omitted += 1
            return nil
        }
        var event = event
        event.title = String(event.title.prefix(Self.mostCharacters))
        event.detail = String(event.detail.prefix(Self.mostCharacters))
        timeline.events.append(event)
        return timeline.events.count - 1
    }

    private mutating func index(of source: PacketSource) -> Int? {
        let name =
            source.program.isEmpty
            ? (source.machine.isEmpty ? "host" : source.machine) : "\(source.program) \(source.machine)"
        if let known = timeline.sources.firstIndex(of: name) { return known }
        guard timeline.sources.count < Self.mostSources else {
            timeline.omitted += 1
            return nil
        }
        timeline.sources.append(name)
        return timeline.sources.count - 1
    }
}

extension String {
    /// Returns the range of the first occurrence of a text.
    fileprivate func range(of text: String) -> Range<Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(text) { return start..<index(start, offsetBy: text.count) }
            start = index(after: start)
        }
        return nil
    }
}
