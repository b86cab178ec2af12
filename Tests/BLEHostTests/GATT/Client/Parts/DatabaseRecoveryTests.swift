import BLEWire
import Testing

@testable import BLEHost

@Suite("Finding out what changed")
struct DatabaseRecoveryTests {
    static let hash: UInt128 = 0x0102_0304
    static let found = Procedure.Outcome.found(.success(.verification), .verification)

    /// A database in which a client was told of a service, learnt under a hash.
    static func database() -> PeerDatabase {
        var database = PeerDatabase()
        database.verify(under: hash)
        let range = AttributeHandleRange(AttributeHandle(wire: 1), AttributeHandle(wire: 9))!
        let service = DiscoveredService(uuid: .short(0x180F), range: range, isPrimary: true)
        database.learn(services: [service], in: .all)
        database.markDelivered(.services, in: .all)
        return database
    }

    /// Has the machine take the outcome of a step, and does what it says.
    private func receive(
        _ outcome: Procedure.Outcome,
        _ machine: inout DatabaseRecovery,
        _ database: inout PeerDatabase
    ) {
        let action = machine.receive(outcome, database)
        if action == .check { database.checkAll() }
    }

    @Test("Reading the hash is enough if it is the known one, or if the peer has indicated the change")
    func short() {
        for (wasReported, hash) in [(false, Self.hash), (true, 99)] as [(Bool, UInt128?)] {
            var database = Self.database(), machine = DatabaseRecovery()
            machine.require(wasReported: wasReported)
            let first = machine.next(), second = machine.next()
            #expect(first == .readHash && second == .nothing)
            receive(.databaseHash(hash), &machine, &database)
            let end = machine.conclude(database)
            #expect(end == .recovered && !machine.isUnderWay)
        }
    }

    @Test("With another hash, the host checks again what clients were told, within a limit")
    func long() {
        var database = Self.database(), machine = DatabaseRecovery()
        machine.require(wasReported: false)
        _ = machine.next()
        receive(.databaseHash(99), &machine, &database)
        var event = machine.conclude(database), requests = 0
        while event == .verifyMore {
            let next = machine.next()
            #expect(next == .verify)
            requests += 1
            receive(Self.found, &machine, &database)
            event = machine.conclude(database)
        }
        #expect(event == .lost, "nothing was learnt again")
        #expect(requests == DatabaseRecovery.mostRequests)
    }

    @Test("If a check fails, what clients were told becomes invalid")
    func failure() {
        var database = Self.database(), machine = DatabaseRecovery()
        machine.require(wasReported: false)
        _ = machine.next()
        receive(.databaseHash(nil), &machine, &database)
        let more = machine.conclude(database), next = machine.next()
        #expect(more == .verifyMore && next == .verify)
        receive(.found(.failure(.att(.unlikelyError)), .verification), &machine, &database)
        let end = machine.conclude(database)
        #expect(end == .lost)
    }

    @Test("An indicated change is remembered until the host has caught up")
    func noteReportedChange() {
        var database = Self.database(), machine = DatabaseRecovery()
        machine.noteReportedChange()
        for (hash, isMore) in [(99 as UInt128, false), (99, true)] {
            machine.require(wasReported: false)
            _ = machine.next()
            receive(.databaseHash(hash), &machine, &database)
            let end = machine.conclude(database)
            #expect((end == .verifyMore) == isMore)
        }
    }
}
