import BLESession

/// Limits on the number of connections per process, per user and in total.
///
/// They are checked before anything is allocated for a connection.
struct ConnectionLimiter: Sendable {
    /// A connected or connecting program.
    struct Program: Equatable, Sendable {
        /// The user ID; `nil` if the kernel does not report it.
        var user: UInt32?
        /// The process ID; `nil` if the kernel does not report it, for example because it hides the process from the
        /// daemon.
        var process: Int32?
        /// True if the program has sent its greeting.
        var hasGreeted = false
    }

    /// Numbers of connections per process, per user and in total: the limits, or the counts of existing connections.
    struct Bounds: Sendable {
        var process: Int
        var user: Int
        var all: Int
    }

    /// The maximum number of connections.
    var connections: Bounds
    /// The maximum number of connections from programs that have not sent their greeting.
    var ungreeted: Bounds

    /// Returns the reason to refuse a new connection, given the existing ones; `nil` to accept it.
    func refusal(of newcomer: Program, among programs: some Sequence<Program>) -> Refusal? {
        var present = Bounds(process: 0, user: 0, all: 0), silent = present
        for program in programs {
            present.count(program, like: newcomer)
            if !program.hasGreeted { silent.count(program, like: newcomer) }
        }
        let sentence =
            connections.sentence(for: present, state: "are already open")
            ?? ungreeted.sentence(for: silent, state: "have sent no greeting yet")
        return sentence.map { Refusal(.tooMany, $0) }
    }
}

extension ConnectionLimiter.Bounds {
    fileprivate mutating func count(_ program: ConnectionLimiter.Program, like newcomer: ConnectionLimiter.Program) {
        all += 1
        guard let user = newcomer.user, program.user == user else { return }
        self.user += 1
        if let process = newcomer.process, program.process == process { self.process += 1 }
    }

    /// Returns a sentence about the first limit that the counts in `present` have reached; `nil` if they have reached
    /// none.
    ///
    /// `state` is the predicate of the sentence, such as “are already open”.
    fileprivate func sentence(for present: Self, state: String) -> String? {
        let end = ", which is the limit"
        if present.process >= process { return "\(process) connections of this process \(state)\(end)" }
        if present.user >= user { return "\(user) connections of this user \(state)\(end)" }
        if present.all >= all { return "\(all) connections \(state)\(end)" }
        return nil
    }
}
