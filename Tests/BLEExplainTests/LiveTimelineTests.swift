import BLEExplain
import BLERuntime
import BLEWire
import Foundation
import Testing

@Suite struct LiveTimelineTests {
    private static let source = PacketSource(machine: "phone")

    private static func note(_ number: Int, at time: Int64, in builder: inout TimelineBuilder) {
        builder.add(text: "note \(number)", of: source, at: Instant(nanoseconds: time))
    }

    private static func object(_ part: String?) throws -> [String: Any] {
        let text = try #require(part)
        #expect(!text.contains("\n"))
        return try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    /// Returns the details of the events in parts, as the page's script finds them.
    private static func details(in parts: [[String: Any]]) -> [String] {
        var strings: [String] = [], details: [String] = []
        for part in parts {
            strings += part["strings"] as? [String] ?? []
            for row in part["events"] as? [[Any]] ?? [] { details.append(strings[row[4] as? Int ?? 0]) }
        }
        return details
    }

    @Test("The parts together have each event once, in order, for browsers that begin at different times")
    func parts() throws {
        var builder = TimelineBuilder(isWorld: true), live = LiveTimeline(), early = LivePage(), late = LivePage()
        var (first, second): ([[String: Any]], [[String: Any]]) = ([], [])
        first.append(try Self.object(early.part(of: live)))
        let nothing = early.part(of: live)
        #expect(nothing == nil)
        for number in 0..<2_500 {
            Self.note(number, at: Int64(number), in: &builder)
            guard number % 700 == 0 else { continue }
            let isNew = live.take(from: &builder, until: Instant(nanoseconds: Int64(number)))
            #expect(isNew)
            first.append(try Self.object(early.part(of: live)))
        }
        let isNew = live.take(from: &builder, until: Instant(nanoseconds: 2_500))
        #expect(isNew)
        while let part = early.part(of: live) { first.append(try Self.object(part)) }
        while let part = late.part(of: live) { second.append(try Self.object(part)) }
        let all = (0..<2_500).map { "note \($0)" }
        #expect(Self.details(in: first) == all && Self.details(in: second) == all)
        #expect(first.map { $0["reset"] as? Bool } == [true] + Array(repeating: false, count: first.count - 1))
        #expect(second.first?["reset"] as? Bool == true)
    }

    @Test("Events in the future wait, and then come in the order of time")
    func future() throws {
        var builder = TimelineBuilder(isWorld: true), live = LiveTimeline(), page = LivePage()
        Self.note(2, at: 20, in: &builder)
        Self.note(1, at: 10, in: &builder)
        let hasAny = live.take(from: &builder, until: Instant(nanoseconds: 9))
        let hasFirst = live.take(from: &builder, until: Instant(nanoseconds: 10))
        #expect(!hasAny && hasFirst)
        let first = try Self.object(page.part(of: live))
        #expect(Self.details(in: [first]) == ["note 1"])
        Self.note(3, at: 15, in: &builder)
        _ = live.take(from: &builder, until: Instant(nanoseconds: 30))
        let second = try Self.object(page.part(of: live))
        #expect(Self.details(in: [first, second]) == ["note 1", "note 3", "note 2"])
    }

    @Test("A full timeline begins again, and says so to browsers")
    func full() throws {
        var builder = TimelineBuilder(), live = LiveTimeline(limit: 10), page = LivePage(), parts: [[String: Any]] = []
        for number in 0..<95 {
            Self.note(number, at: Int64(number), in: &builder)
            _ = live.take(from: &builder, until: Instant(nanoseconds: .max))
            #expect(live.count <= 10)
            parts.append(try Self.object(page.part(of: live)))
        }
        #expect(parts.filter { $0["reset"] as? Bool == true }.count == 10)
        let last = try #require(parts.lastIndex { $0["reset"] as? Bool == true })
        #expect(Self.details(in: Array(parts[last...])) == (90..<95).map { "note \($0)" })
    }

    @Test("The cause of a failure comes after its event")
    func causes() throws {
        var builder = TimelineBuilder(isWorld: true), live = LiveTimeline(), page = LivePage()
        let failed = "app 1 receives: didFailToConnect X error: timed out"
        builder.add(text: "app 1 requests: connect X", of: Self.source, at: Instant(nanoseconds: 1))
        builder.add(text: failed, of: Self.source, at: Instant(nanoseconds: 2))
        _ = live.take(from: &builder, until: Instant(nanoseconds: 3))
        _ = page.part(of: live)
        let (isChanged, isChangedAgain) = (live.explain(), live.explain())
        #expect(isChanged && !isChangedAgain)
        let findings = try #require(try Self.object(page.part(of: live))["findings"] as? [[String: Any]])
        #expect(findings.count == 1 && findings.first?["event"] as? Int == 1)
    }
}
