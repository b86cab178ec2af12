import BLESession

/// Says who is let in: what one process, one user and all may have at once, before anything is made for a connection.
struct Doorkeeper: Sendable {
    /// Whoever is in, or wants to be.
    struct Guest: Equatable, Sendable {
        /// The number of the user; `nil` if the kernel does not say.
        var user: UInt32?
        /// The process; `nil` if the kernel does not say, as for one that it hides from the daemon.
        var process: Int32?
        /// Whether it has said who it wants to be.
        var hasGreeted = false
    }

    /// How many there may be.
    struct Bounds: Sendable {
        var process: Int
        var user: Int
        var all: Int
    }

    /// How many may be connected.
    var connections: Bounds
    /// How many of them may not have greeted.
    var strangers: Bounds

    /// Why the newcomer is not let in to those who are; `nil` if it is.
    func refusal(of newcomer: Guest, among guests: some Sequence<Guest>) -> Refusal? {
        var present = Bounds(process: 0, user: 0, all: 0), silent = present
        for guest in guests {
            present.count(guest, like: newcomer)
            if !guest.hasGreeted { silent.count(guest, like: newcomer) }
        }
        let sentence =
            connections.sentence(for: present, state: "connected already")
            ?? strangers.sentence(for: silent, state: "connected and have not greeted")
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

    /// Which of these bounds `present` has come to.
    fileprivate func sentence(for present: Self, state: String) -> String? {
        if present.process >= process { return "\(process) sessions of this process are \(state)" }
        if present.user >= user { return "\(user) sessions of this user are \(state)" }
        if present.all >= all { return "\(all) sessions are \(state)" }
        return nil
    }
}
