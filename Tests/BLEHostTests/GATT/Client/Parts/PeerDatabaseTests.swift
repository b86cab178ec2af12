import BLEWire
import Testing

@testable import BLEHost

@Suite("How far what is known can be relied on")
struct PeerDatabaseTests {
    static let service = DiscoveredService(uuid: .short(0x180F), range: range(1, 9), isPrimary: true)
    static let hash: UInt128 = 7

    /// A database in which the services are known, and a client was told of them.
    static func told(isWatched: Bool = false) -> PeerDatabase {
        var database = PeerDatabase()
        if isWatched { database.watch() }
        database.learn(services: [service], in: .all)
        database.spend(.services, in: .all)
        return database
    }

    static func missing(_ database: PeerDatabase) -> AttributeHandle? { database.missing(.services, in: .all) }

    @Test("What was handed out is asked for again, unless the peer tells of changes")
    func spending() {
        var database = PeerDatabase()
        database.learn(services: [Self.service], in: .all)
        #expect(Self.missing(database) == nil, "what was read ahead is handed out once")
        #expect(Self.missing(Self.told()) == AttributeHandle(wire: 1))
        #expect(Self.missing(Self.told(isWatched: true)) == nil)
    }

    @Test("What was read ahead does not count for ever, unless the peer tells of changes")
    func expiry() {
        for isWatched in [false, true] {
            var database = PeerDatabase()
            if isWatched { database.watch() }
            database.learn(services: [Self.service], in: .all)
            database.expire()
            #expect((Self.missing(database) == nil) == isWatched)
        }
    }

    @Test("What was learnt before the hash was read is to be learnt again, and is certain then")
    func proof() {
        var database = Self.told()
        #expect(database.isVerified, "there is no hash to verify it under")
        database.verify(under: Self.hash)
        #expect(!database.isVerified && database.firstUnverified?.aspect == .services)
        database.learn(services: [Self.service], in: .all)
        #expect(database.isVerified && database.hasNews)
        database.confirm()
        #expect(!database.hasNews && database.hash == Self.hash)
        database.remove(range(1, 2))
        #expect(database.hash == nil, "the hash was of another database")
    }

    @Test("Clients hear once of what is otherwise than they were told")
    func change() {
        var database = Self.told()
        let moved = DiscoveredService(uuid: .short(0x180F), range: range(1, 12), isPrimary: true)
        database.learn(services: [moved], in: .all)
        let first = database.takeChange(), second = database.takeChange()
        #expect(first == range(1, 12) && second == nil)
    }

    @Test("What clients were told before the peer told of changes is learnt again, and nothing else")
    func unwatched() {
        var database = Self.told()
        database.beginWatching()
        database.learnAbsence(of: .includes, in: .all)
        database.watch()
        database.noteTold(.includes, in: .all)
        database.checkUnwatched()
        #expect(database.firstUnverified?.aspect == .services)
        database.learn(services: [Self.service], in: .all)
        #expect(database.isVerified)
    }

    @Test("A client that begins anew leaves others what they were told")
    func forgetting() {
        var database = Self.told()
        database.forget()
        #expect(database.isForgotten && database.isEmpty && !database.isDelivered)
        database.remove(.all)
        #expect(!database.isForgotten)
        var untold = PeerDatabase()
        untold.forget()
        #expect(!untold.isForgotten)
    }

    @Test("A peer that refuses to be asked for more than is wanted is asked for that alone")
    func readingAhead() {
        var database = PeerDatabase()
        let start = AttributeHandle(wire: 5)
        #expect(database.search(.types, from: start, in: range(5, 9)) == range(5, 0xFFFF))
        database.readsAhead = false
        #expect(database.search(.types, from: start, in: range(5, 9)) == range(5, 9))
        database.removeAll()
        #expect(!database.readsAhead)
    }

    @Test("What cannot be is handed out once")
    func faults() {
        var database = PeerDatabase()
        database.doubt([AttributeHandle(wire: 3)])
        let first = database.takeFaults(), second = database.takeFaults()
        #expect(first.map(\.wire) == [3] && second.isEmpty)
    }
}
