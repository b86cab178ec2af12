import BLESimulation
import CoreBluetooth

/// The record of a day: the number of calls, the violations, and the faults that excuse failures.
final class Chronicle: Sendable {
    private struct State {
        var operations: [String: Int] = [:]
        var callbacks: [String: Int] = [:]
        var violations: [String] = []
        /// For each machine, the end of the period in which a fault excuses failures of its links.
        var troubles: [String: Duration] = [:]
        /// The time at which each server last changed its services.
        var rebuilds: [String: Duration] = [:]
        /// The time at which each server's app was last killed.
        var deaths: [String: Duration] = [:]
        /// The links of machines.
        ///
        /// The apps of one machine share its links.
        var links: [LinkName: SharedLink] = [:]
        /// The start of the link over which a sender writes numbers, by the sender's identifier.
        var senders: [UInt64: Duration] = [:]
        /// The numbers in the long values that servers have accepted.
        var taken: Set<UInt64> = []
    }

    /// The time for which a fault may have effects after its end.
    ///
    /// It is longer than the supervision timeout.
    private static let grace = Duration.seconds(8)

    private let clock: @Sendable () -> Duration
    private let bulletin: Bulletin?
    private let state = Shared(State())

    /// Creates the record of a day in a world.
    init(_ world: World) {
        clock = { world.now }
        bulletin = nil
    }

    /// Creates the record of an app in a process of its own.
    init(_ bulletin: Bulletin) {
        clock = { Bulletin.now }
        self.bulletin = bulletin
    }

    var now: Duration { clock() }

    /// Counts a call from an app to its manager.
    func operation(_ kind: String) { state.withLock { $0.operations[kind, default: 0] += 1 } }

    /// Counts a delegate call.
    func callback(_ kind: String) { state.withLock { $0.callbacks[kind, default: 0] += 1 } }

    var operations: [String: Int] { state.withLock { $0.operations } }
    var callbacks: [String: Int] { state.withLock { $0.callbacks } }

    /// Descriptions of everything that contradicts Apple's documentation.
    var violations: [String] { state.withLock { $0.violations } }

    /// The stage of the run; `nil` in a world.
    var stage: Bulletin.Stage? {
        catchUp()
        return bulletin?.stage
    }

    /// Records that something contradicts Apple's documentation.
    func complain(_ who: String, _ what: String) {
        let time = now
        state.withLock { $0.violations.append("\(time.components.seconds) s: \(who): \(what)") }
    }

    /// Records that links of a machine may fail during the next `duration`, because of a fault.
    func expectTrouble(_ machine: String, for duration: Duration) {
        let end = now + duration + Self.grace
        state.withLock { $0.troubles[machine] = max(end, $0.troubles[machine] ?? .zero) }
    }

    /// Reads the lines that the apps of other processes have added to the bulletin.
    ///
    /// Other threads wait while one thread reads, which takes long if the app is launched when the bulletin is already
    /// long.
    private func catchUp() {
        guard let bulletin else { return }
        state.withLock { state in
            for words in bulletin.news() where words.count == 3 {
                let name = String(words[1])
                switch (words[0], Int64(words[2])) {
                case ("taken", _): if let number = UInt64(words[1]) { state.taken.insert(number) }
                case ("rebuilt", let time?): state.rebuilds[name] = .nanoseconds(time)
                case ("died", let time?):
                    (state.deaths[name], state.rebuilds[name]) = (.nanoseconds(time), .nanoseconds(time))
                default: break
                }
            }
        }
    }

    /// Returns whether links between a machine and a server may fail now because of a fault.
    ///
    /// If `server` is `nil`, a fault of any machine counts.
    func excuses(_ machine: String, _ server: String?) -> Bool {
        let time = now
        return state.withLock { state in
            if let end = state.troubles[machine], time <= end { return true }
            guard let server else { return state.troubles.values.contains { time <= $0 } }
            return state.troubles[server].map { time <= $0 } ?? false
        }
    }

    /// Records that an app of a machine is connected to a peripheral.
    ///
    /// - Returns: The time at which the machine's link to the peripheral began. For an app in a process of its own, it
    ///   is zero, because the apps of other processes may have used the link before.
    func joined(_ machine: String, _ peripheral: UUID) -> Duration {
        guard bulletin == nil else { return .zero }
        let time = now
        return state.withLock { $0.links[LinkName(machine, peripheral), default: SharedLink()].join(at: time) }
    }

    /// Records that an app of a machine is no longer connected to a peripheral.
    func left(_ machine: String, _ peripheral: UUID) {
        let time = now
        state.withLock { $0.links[LinkName(machine, peripheral)]?.leave(at: time) }
    }

    /// Records that a sender writes its numbers over a link that began at `instant`.
    func sends(_ sender: UInt64, since instant: Duration) { state.withLock { $0.senders[sender] = instant } }

    /// Returns the start of the link over which a sender writes its numbers; zero if the sender is unknown.
    func sending(_ sender: UInt64) -> Duration { state.withLock { $0.senders[sender] ?? .zero } }

    func rebuilt(_ server: String) {
        let time = now
        state.withLock { $0.rebuilds[server] = time }
        bulletin?.post("rebuilt", server, "\(time.nanoseconds)")
    }

    /// Returns whether a server has changed its services since `instant`, or shortly before.
    ///
    /// If `server` is `nil` or unknown, a change by any server counts.
    func hasRebuilt(_ server: String?, since instant: Duration) -> Bool {
        catchUp()
        return state.withLock { state in
            // An unknown name may belong to any server.
            let last = server.flatMap { state.rebuilds[$0] } ?? state.rebuilds.values.max()
            return last.map { instant <= $0 + Self.grace } ?? false
        }
    }

    /// Returns whether a server's app has been killed since `instant`; its delayed responses are then lost.
    ///
    /// If `server` is `nil` or unknown, the end of any server's app counts.
    func hasLostApp(_ server: String?, since instant: Duration) -> Bool {
        catchUp()
        return state.withLock { state in
            let last = server.flatMap { state.deaths[$0] } ?? state.deaths.values.max()
            return last.map { instant <= $0 } ?? false
        }
    }

    /// Records that a server has accepted the long value with this number; returns false if it had already accepted it.
    func take(_ number: UInt64) -> Bool {
        catchUp()
        guard state.withLock({ $0.taken.insert(number).inserted }) else { return false }
        bulletin?.post("taken", "\(number)", "0")
        return true
    }

    func wasTaken(_ number: UInt64) -> Bool {
        catchUp()
        return state.withLock { $0.taken.contains(number) }
    }
}

extension Duration {
    /// The duration in nanoseconds.
    fileprivate var nanoseconds: Int64 { components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000 }
}
