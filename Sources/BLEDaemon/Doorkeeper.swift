import BLESession

/// The limits of connections per process, per user and in all, checked before anything is allocated for a connection.
struct Doorkeeper: Sendable {
    /// A connected or connecting program.
    struct Guest: Equatable, Sendable {
        /// The user number; `nil` if the kernel does not report it.
        var user: UInt32?
        /// The process number; `nil` if the kernel does not report it, as for processes hidden from the daemon.
        var process: Int32?
        /// True if it has sent its greeting.
        var hasGreeted = false
    }

    /// Maximum numbers.
    struct Bounds: Sendable {
        var process: Int
        var user: Int
        var all: Int
    }

    /// The maximum number of connections.
    var connections: Bounds
    /// The maximum number of connections without a greeting.
    var strangers: Bounds

    /// Returns the reason to refuse a new connection besides the existing ones; `nil` if it is accepted.
    func refusal(of newcomer: Guest, among guests: some Sequence<Guest>) -> Refusal? {
        var present = Bounds(process: 0, user: 0, all: 0), silent = present
        for guest in guests {
            present.count(guest, like: newcomer)
            if !guest.hasGreeted { silent.count(guest, like: newcomer) }
        }
        let sentence =
            connections.sentence(for: present, state: "already connected")
            ?? strangers.sentence(for: silent, state: "connected without a greeting")
        return sentence.map { Refusal(.tooMany, $0) }
    }
}

extension Doorkeeper.Bounds {
    fileprivate mutating func count(_ guest: Doorkeeper.Guest, like newcomer: Doorkeeper.Guest) {
        all += 1
        guard let user = newcomer.user, guest.user == user else { return }
        self.user += 1
        if let process = newcomer.process, guest.process == process { self.process += 1 }
    }

    /// Returns the limit that `present` has reached.
    fileprivate func sentence(for present: Self, state: String) -> String? {
        if present.process >= process { return "\(process) sessions of this process are \(state)" }
        if present.user >= user { return "\(user) sessions of this user are \(state)" }
        if present.all >= all { return "\(all) sessions are \(state)" }
        return nil
    }
}
