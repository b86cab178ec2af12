import BLESimulation
import CoreBluetooth

/// What happened in a day: how much, what should not have, and what may serve as an excuse.
final class Chronicle: Sendable {
    private struct State {
        var operations: [String: Int] = [:]
        var callbacks: [String: Int] = [:]
        var violations: [String] = []
        /// Until when a machine's links may fail for a cause that lies outside of the apps.
        var troubles: [String: Duration] = [:]
        /// When a server last changed its services.
        var rebuilds: [String: Duration] = [:]
        /// The links of machines, which the apps of a machine share.
        var links: [LinkName: SharedLink] = [:]
        /// Since when there has been the link over which numbers are written that begin so.
        var senders: [UInt64: Duration] = [:]
        /// The long values that servers took.
        var taken: Set<UInt64> = []
    }

    /// How long after its end a cause may still have effects: more than the supervision timeout.
    private static let grace = Duration.seconds(8)

    private let world: World
    private let state = Shared(State())

    init(_ world: World) { self.world = world }

    var now: Duration { world.now }

    /// Counts a call of an app.
    func operation(_ kind: String) { state.withLock { $0.operations[kind, default: 0] += 1 } }

    /// Counts a call of a delegate.
    func callback(_ kind: String) { state.withLock { $0.callbacks[kind, default: 0] += 1 } }

    var operations: [String: Int] { state.withLock { $0.operations } }
    var callbacks: [String: Int] { state.withLock { $0.callbacks } }

    /// What contradicts the documents.
    var violations: [String] { state.withLock { $0.violations } }

    /// Notes that something contradicts the documents.
    func complain(_ who: String, _ what: String) {
        let time = now
        state.withLock { $0.violations.append("\(time.components.seconds) s: \(who): \(what)") }
    }

    /// Notes that links of a machine may fail for so long.
    func expectTrouble(_ machine: String, for duration: Duration) {
        let end = now + duration + Self.grace
        state.withLock { $0.troubles[machine] = max(end, $0.troubles[machine] ?? .zero) }
    }

    /// Whether links between two machines may fail now; a server whose name is not known may be any.
    func excuses(_ machine: String, _ server: String?) -> Bool {
        let time = now
        return state.withLock { state in
            if let end = state.troubles[machine], time <= end { return true }
            guard let server else { return state.troubles.values.contains { time <= $0 } }
            return state.troubles[server].map { time <= $0 } ?? false
        }
    }

    /// Notes that an app of a machine is connected to a peripheral.
    ///
    /// - Returns: Since when the machine has its link to it.
    func joined(_ machine: String, _ peripheral: UUID) -> Duration {
        let time = now
        return state.withLock { $0.links[LinkName(machine, peripheral), default: SharedLink()].join(at: time) }
    }

    /// Notes that an app of a machine is not connected to a peripheral any more.
    func left(_ machine: String, _ peripheral: UUID) {
        let time = now
        state.withLock { $0.links[LinkName(machine, peripheral)]?.leave(at: time) }
    }

    /// Notes that numbers which begin so are written over a link that has been there since `instant`.
    func sends(_ sender: UInt64, since instant: Duration) { state.withLock { $0.senders[sender] = instant } }

    /// Since when there has been the link over which numbers that begin so are written.
    func sending(_ sender: UInt64) -> Duration { state.withLock { $0.senders[sender] ?? .zero } }

    func rebuilt(_ server: String) {
        let time = now
        state.withLock { $0.rebuilds[server] = time }
    }

    /// Whether a server has changed its services since `instant`, or just before.
    func hasRebuilt(_ server: String?, since instant: Duration) -> Bool {
        state.withLock { state in
            let last = server.map { state.rebuilds[$0] } ?? state.rebuilds.values.max()
            return last.map { instant <= $0 + Self.grace } ?? false
        }
    }

    /// Notes that a server took the long value with this number; `false` if it has taken it before.
    func take(_ number: UInt64) -> Bool { state.withLock { $0.taken.insert(number).inserted } }

    func wasTaken(_ number: UInt64) -> Bool { state.withLock { $0.taken.contains(number) } }
}
