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

    /// The outcome for a new connection.
    enum OnConnect: Equatable {
        case admit
        /// Admit the connection, and close the existing one with this index, whose program has sent no greeting.
        case admitInPlace(of: Int)
        case refuse(Refusal)
    }

    /// The maximum number of connections.
    var connections: Bounds
    /// The maximum number of connections from programs that have not sent their greeting.
    var ungreeted: Bounds
    /// The users to whom the limits for all users together do not apply, so that other users cannot keep them out.
    var administrators: [UInt32] = []

    /// Returns the outcome for a new connection, given the existing ones, oldest first.
    ///
    /// If all users together have too many connections without a greeting, the new connection replaces the oldest one
    /// of the user with the most of them. So silent programs of some users do not keep out the others.
    func connect(_ newcomer: Program, among programs: some Sequence<Program>) -> OnConnect {
        var present = Bounds(process: 0, user: 0, all: 0), silent = present
        for program in programs {
            present.count(program, like: newcomer)
            if !program.hasGreeted { silent.count(program, like: newcomer) }
        }
        let isLimited = newcomer.user.map { !administrators.contains($0) } ?? true
        let state = "have sent no greeting yet"
        let sentence =
            connections.sentence(for: present, isTotalLimited: isLimited, state: "are already open")
            ?? ungreeted.sentence(for: silent, isTotalLimited: false, state: state)
        if let sentence { return .refuse(Refusal(.tooMany, sentence)) }
        guard isLimited, silent.all >= ungreeted.all else { return .admit }
        if let index = displaced(by: newcomer, among: programs) { return .admitInPlace(of: index) }
        return .refuse(Refusal(.tooMany, Bounds.sentence(about: ungreeted.all, state: state)))
    }

    /// Returns the index of the connection without a greeting that a new one replaces; `nil` if no user has more of
    /// them than the new one's user would have.
    private func displaced(by newcomer: Program, among programs: some Sequence<Program>) -> Int? {
        var counts: [UInt32?: Int] = [:], first: [UInt32?: Int] = [:]
        for (index, program) in programs.enumerated() where !program.hasGreeted {
            counts[program.user, default: 0] += 1
            if first[program.user] == nil { first[program.user] = index }
        }
        guard let most = counts.values.max(), most > counts[newcomer.user, default: 0] + 1 else { return nil }
        return first.filter { counts[$0.key] == most }.values.min()
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
    /// The limit for all users together applies only if `isTotalLimited` is true. `state` is the predicate of the
    /// sentence, such as “are already open”.
    fileprivate func sentence(for present: Self, isTotalLimited: Bool, state: String) -> String? {
        if present.process >= process { return Self.sentence(about: process, of: " of this process", state: state) }
        if present.user >= user { return Self.sentence(about: user, of: " of this user", state: state) }
        if isTotalLimited, present.all >= all { return Self.sentence(about: all, state: state) }
        return nil
    }

    fileprivate static func sentence(about limit: Int, of owner: String = "", state: String) -> String {
        "\(limit) connections\(owner) \(state), which is the limit"
    }
}
