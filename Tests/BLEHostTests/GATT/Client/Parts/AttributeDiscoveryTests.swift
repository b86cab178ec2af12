import BLEWire
import Testing

@testable import BLEHost

@Suite("Lookups in a peer's database")
struct AttributeDiscoveryTests {
    /// Feeds answers to a lookup; what it asked, and what came of it.
    static func play(
        _ question: AttributeDiscovery.Question,
        _ answers: [String],
        in database: inout PeerDatabase,
        limit: Int = 100,
        changing changed: Set<Int> = []
    ) throws -> (requests: [String], outcome: Result<AttributeDiscovery.Answer, Failure>?) {
        var lookup = AttributeDiscovery(question, limit: limit), count = 0
        return try BLEHostTests.play(lookup.begin(&database, mtu: 23), answers) { answer in
            if changed.contains(count) { lookup.databaseChanged() }
            count += 1
            return lookup.receive(answer, &database, mtu: 23)
        }
    }

    @Test("A lookup requests nothing that is known")
    func known() throws {
        var database = PeerDatabase()
        database.watch()
        let answers = ["11 06 0100 0900 0f18", "01 10 0a00 0a"]
        let (first, found) = try Self.play(.services(only: []), answers, in: &database)
        #expect(first == ["100100ffff0028", "100a00ffff0028"])
        let (again, same) = try Self.play(.services(only: []), [], in: &database)
        #expect(again.isEmpty && same == found)
        let (one, picked) = try Self.play(.services(only: [.short(0x180D)]), [], in: &database)
        #expect(one.isEmpty && picked == .success(.services([])))
    }

    @Test("A lookup of one service UUID searches for that UUID")
    func one() throws {
        var database = PeerDatabase()
        let (requests, _) = try Self.play(.services(only: [.short(0x180F)]), ["01 06 0100 0a"], in: &database)
        #expect(requests == ["060100ffff00280f18"])
    }

    @Test("A lookup restarts when services change, and gives up if the peer keeps changing")
    func change() throws {
        var database = PeerDatabase()
        let answers = ["11 06 0100 0900 0f18", "01 10 0100 0a"]
        let (requests, outcome) = try Self.play(.services(only: []), answers, in: &database, changing: [0])
        #expect(requests == ["100100ffff0028", "100100ffff0028"])
        #expect(outcome == .success(.services([])))
        let endless = [String](repeating: "11 06 0100 0900 0f18", count: 300)
        let (all, end) = try Self.play(.services(only: []), endless, in: &database, changing: Set(0..<300))
        #expect(all.count == 1 + AttributeDiscovery.mostChanges && end == .failure(.invalidResponse))
        let refusals = [String](repeating: "01 10 0100 12", count: 20)
        let (few, refused) = try Self.play(.services(only: []), refusals, in: &database, changing: Set(0..<20))
        #expect(few.count == 1 + AttributeDiscovery.mostRefusals && refused == .failure(.att(.databaseOutOfSync)))
    }

    @Test("A lookup stores no more attributes than the limit")
    func limit() throws {
        var database = PeerDatabase()
        let answers = ["11 06 0100 0900 0f18 0a00 0b00 0f18 0c00 0d00 0f18"]
        let (_, outcome) = try Self.play(.services(only: []), answers, in: &database, limit: 2)
        #expect(outcome == .failure(.limitReached) && database.isEmpty)
    }

    @Test("A lookup requests only the wanted range if the peer refuses more")
    func narrowing() throws {
        var database = PeerDatabase()
        let question = AttributeDiscovery.Question.descriptors(of: AttributeHandle(wire: 3), in: range(4, 6))
        let answers = ["01 04 0400 01", "05 01 0400 0229", "01 04 0500 0a"]
        let (requests, outcome) = try Self.play(question, answers, in: &database)
        #expect(requests == ["040400ffff", "0404000600", "0405000600"])
        let found = [DiscoveredDescriptor(uuid: .short(0x2902), handle: AttributeHandle(wire: 4))]
        #expect(outcome == .success(.descriptors(found)))
    }

    @Test("A lookup reads the UUID of an included service from its declaration, and omits one it cannot read")
    func naming() throws {
        var database = PeerDatabase()
        let question = AttributeDiscovery.Question.includes(in: range(16, 32), only: [])
        let answers = ["09 06 1100 0100 0300 1200 0400 0600", "01 08 1300 0a", "0b 0f18 00", "0b 0f18"]
        let (requests, outcome) = try Self.play(question, answers, in: &database)
        #expect(requests.suffix(2) == ["0a0100", "0a0400"])
        guard case .success(.includes(let found)) = outcome else {
            Issue.record("one of them can be read")
            return
        }
        #expect(found.map(\.range) == [range(4, 6)])
        #expect(database.takeFaults().map(\.wire) == [1])
    }

    @Test("A lookup fails with the peer's error, or as an invalid response")
    func failures() throws {
        for (answer, failure) in [("01 10 0100 05", .att(.insufficientAuthentication)), ("13", .invalidResponse)]
            as [(String, Failure)]
        {
            var database = PeerDatabase()
            let (_, outcome) = try Self.play(.services(only: []), [answer], in: &database)
            #expect(outcome == .failure(failure))
        }
    }
}
