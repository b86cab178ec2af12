import BLEWire
import Testing

@testable import BLEHost

@Suite("The attributes of peers without a bond")
struct RecentDatabasesTests {
    private func database(_ hash: Int) -> CachedDatabase {
        CachedDatabase(hash: UInt128(hash), attributes: KnownAttributes())
    }

    private func peer(_ number: Int) -> PeerIdentifier { PeerIdentifier(rawValue: UInt128(number)) }

    @Test("They are returned once, and to the same peer only")
    func once() {
        var recent = RecentDatabases()
        recent.record(database(1), of: peer(1), at: Instant())
        recent.record(database(2), of: peer(1), at: Instant())
        #expect(recent.take(peer(2), at: Instant()) == nil)
        #expect(recent.take(peer(1), at: Instant()) == database(2))
        #expect(recent.take(peer(1), at: Instant()) == nil)
    }

    @Test("They are dropped ten minutes after the link ended, and not a nanosecond earlier")
    func expiry() {
        var recent = RecentDatabases()
        let begin = Instant() + .seconds(1)
        recent.record(database(1), of: peer(1), at: begin)
        recent.record(database(2), of: peer(2), at: begin)
        #expect(recent.take(peer(1), at: begin + .seconds(600) + .nanoseconds(-1)) == database(1))
        #expect(recent.take(peer(2), at: begin + .seconds(600)) == nil)
    }

    @Test("There are at most 32; the oldest one is dropped first")
    func limit() {
        var recent = RecentDatabases()
        for number in 0..<40 { recent.record(database(number), of: peer(number), at: Instant()) }
        for number in 0..<40 {
            #expect(recent.take(peer(number), at: Instant()) == (number < 8 ? nil : database(number)))
        }
    }
}
