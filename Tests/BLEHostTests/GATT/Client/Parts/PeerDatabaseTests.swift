import BLEWire
import Testing

@testable import BLEHost

@Suite("Reliability of the known database")
struct PeerDatabaseTests {
    static let service = DiscoveredService(uuid: .short(0x180F), range: range(1, 9), isPrimary: true)
    static let hash: UInt128 = 7

    /// A database in which the services are known, and a client was told of them.
    static func told(isWatched: Bool = false) -> PeerDatabase {
        var database = PeerDatabase()
        if isWatched { database.watch() }
        database.learn(services: [service], in: .all)
        database.markUsed(.services, in: .all)
        return database
    }

    static func missing(_ database: PeerDatabase) -> AttributeHandle? { database.missing(.services, in: .all) }

    @Test("Attributes returned to a client are requested again, unless the peer indicates changes")
    func spending() {
        var database = PeerDatabase()
        database.learn(services: [Self.service], in: .all)
        #expect(Self.missing(database) == nil, "what was read ahead is handed out once")
        #expect(Self.missing(Self.told()) == AttributeHandle(wire: 1))
        #expect(Self.missing(Self.told(isWatched: true)) == nil)
    }

    @Test("Attributes read ahead expire, unless the peer indicates changes")
    func expiry() {
        for isWatched in [false, true] {
            var database = PeerDatabase()
            if isWatched { database.watch() }
            database.learn(services: [Self.service], in: .all)
            database.expire()
            #expect((Self.missing(database) == nil) == isWatched)
        }
    }

    @Test("Attributes learned before the hash was read are requested again, and then count as verified")
    func proof() {
        var database = Self.told()
        #expect(database.isVerified, "there is no hash to verify it under")
        database.verify(under: Self.hash)
        #expect(!database.isVerified && database.firstUnverified?.aspect == .services)
        database.learn(services: [Self.service], in: .all)
        #expect(database.isVerified && database.hasUnconfirmed)
        database.confirm()
        #expect(!database.hasUnconfirmed && database.hash == Self.hash)
        database.remove(range(1, 2))
        #expect(database.hash == nil, "the hash was of another database")
    }

    @Test("Clients learn once of each difference from what they were told")
    func change() {
        var database = Self.told()
        let moved = DiscoveredService(uuid: .short(0x180F), range: range(1, 12), isPrimary: true)
        database.learn(services: [moved], in: .all)
        let first = database.takeChange(), second = database.takeChange()
        #expect(first == range(1, 12) && second == nil)
    }

    @Test("Only attributes reported to clients before Service Changed was enabled are verified")
    func unwatched() {
        var database = Self.told()
        database.beginWatching()
        database.learnAbsence(of: .includes, in: .all)
        database.watch()
        database.markDelivered(.includes, in: .all)
        database.checkUnwatched()
        #expect(database.firstUnverified?.aspect == .services)
        database.learn(services: [Self.service], in: .all)
        #expect(database.isVerified)
    }

    @Test("A client that forgets the database does not affect what others were told")
    func forgetting() {
        var database = Self.told()
        database.forget()
        #expect(database.lacksReportedAttributes && database.isEmpty && !database.isDelivered)
        database.remove(.all)
        #expect(!database.lacksReportedAttributes)
        var untold = PeerDatabase()
        untold.forget()
        #expect(!untold.lacksReportedAttributes)
    }

    @Test("If the peer refuses to return more, only the wanted range is requested")
    func readingAhead() {
        var database = PeerDatabase()
        let start = AttributeHandle(wire: 5)
        #expect(database.search(.types, from: start, in: range(5, 9)) == range(5, 0xFFFF))
        database.readsAhead = false
        #expect(database.search(.types, from: start, in: range(5, 9)) == range(5, 9))
        database.removeAll()
        #expect(!database.readsAhead)
    }

    @Test("Impossible attributes are reported once")
    func faults() {
        var database = PeerDatabase()
        database.noteFaults([AttributeHandle(wire: 3)])
        let first = database.takeFaults(), second = database.takeFaults()
        #expect(first.map(\.wire) == [3] && second.isEmpty)
    }
}
