import BLEHost
import BLERuntime
import BLEWire
import Testing

@testable import CoreBluetoothExtras

@Suite("Pending calls of pairing objects", .timeLimit(.minutes(30)))
struct PendingPairingCallTests {
    @Test("Calls of several tasks get the results of their own requests")
    func order() async throws {
        let calls = PendingPairingCalls(), asked = Asked(), count = 200
        let bond = BondedPeer(
            peer: PeerIdentifier(rawValue: 1),
            name: nil,
            identity: DeviceAddress(0xC000_0000_0001, .random),
            strength: PairingStrength(keySize: 16, isAuthenticated: false, isSecureConnections: true)
        )
        try await withThrowingTaskGroup(of: (task: Int, bonds: Int).self) { group in
            for task in 0..<count {
                group.addTask {
                    let bonds = try await calls.list {
                        // Gives another task the time to make its request first.
                        for _ in 0..<1_000 { _ = asked.tasks.withLock(\.count) }
                        asked.tasks.withLock { $0.append(task) }
                    }
                    return (task, bonds.count)
                }
            }
            while asked.tasks.withLock(\.count) < count { await Task.yield() }
            // The result of each request has as many bonds as there were requests before it.
            for earlier in 0..<count { calls.receive(.bonds(Array(repeating: bond, count: earlier))) }
            let order = asked.tasks.withLock(\.self)
            for try await result in group { #expect(order[result.bonds] == result.task) }
        }
    }

    /// The tasks that have made their requests, in the order of the requests.
    private final class Asked: Sendable {
        let tasks = Locked<[Int]>([])
    }
}
