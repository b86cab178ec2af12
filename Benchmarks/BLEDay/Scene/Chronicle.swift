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
        /// When an app of a server was last killed.
        var deaths: [String: Duration] = [:]
        /// The links of machines, which the apps of a machine share.
        var links: [LinkName: SharedLink] = [:]
        /// Since when there has been the link over which numbers are written that begin so.
        var senders: [UInt64: Duration] = [:]
        /// The long values that servers took.
        var taken: Set<UInt64> = []
    }

    /// How long after its end a cause may still have effects: more than the supervision timeout.
    private static let grace = Duration.seconds(8)

    private let clock: @Sendable () -> Duration
    private let bulletin: Bulletin?
    private let state = Shared(State())

    /// Begins the chronicle of a day in a world.
    init(_ world: World) {
        clock = { world.now }
        bulletin = nil
    }

    /// Begins the chronicle of an app that is alone in its process.
    init(_ bulletin: Bulletin) {
        clock = { Bulletin.now }
        self.bulletin = bulletin
    }

    var now: Duration { clock() }

    /// Counts a call of an app.
    func operation(_ kind: String) { state.withLock { $0.operations[kind, default: 0] += 1 } }

    /// Counts a call of a delegate.
    func callback(_ kind: String) { state.withLock { $0.callbacks[kind, default: 0] += 1 } }

    var operations: [String: Int] { state.withLock { $0.operations } }
    var callbacks: [String: Int] { state.withLock { $0.callbacks } }

    /// What contradicts the documents.
    var violations: [String] { state.withLock { $0.violations } }

    /// How far the run is; `nil` in a world.
    var stage: Bulletin.Stage? {
        catchUp()
        return bulletin?.stage
    }

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

    /// Takes what apps of other processes have posted.
    ///
    /// Whoever comes while another thread does that waits until it is taken, which is long for an app that is launched
    /// late.
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
    /// - Returns: Since when the machine has its link to it, or may have had it where apps of other processes share it.
    func joined(_ machine: String, _ peripheral: UUID) -> Duration {
        guard bulletin == nil else { return .zero }
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
        bulletin?.post("rebuilt", server, "\(time.nanoseconds)")
    }

    /// Whether a server has changed its services since `instant`, or just before.
    func hasRebuilt(_ server: String?, since instant: Duration) -> Bool {
        catchUp()
        return state.withLock { state in
            // A server that is known by another name may be any.
            let last = server.flatMap { state.rebuilds[$0] } ?? state.rebuilds.values.max()
            return last.map { instant <= $0 + Self.grace } ?? false
        }
    }

    /// Whether an app of a server has been killed since `instant`, with the answers that it owed.
    func hasLostApp(_ server: String?, since instant: Duration) -> Bool {
        catchUp()
        return state.withLock { state in
            let last = server.flatMap { state.deaths[$0] } ?? state.deaths.values.max()
            return last.map { instant <= $0 } ?? false
        }
    }

    /// Notes that a server took the long value with this number; `false` if it has taken it before.
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
    /// How many nanoseconds these are.
    fileprivate var nanoseconds: Int64 { components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000 }
}
