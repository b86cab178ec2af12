import BLEWire

/// A limit on how fast the connections of each user are accepted.
///
/// A user's connections are served immediately up to a burst, and then at one per interval. Connections that arrive
/// faster have to wait or, if too many are waiting, are refused. So one user's connections never delay those of
/// another. A user with few connections regains the burst over time.
///
/// A value without I/O: it is given connections and the time, and returns the connections to serve or refuse.
struct AcceptRateLimiter<Connection> {
    /// The maximum number of users that are tracked at the same time.
    private static var mostUsers: Int { 4_096 }

    fileprivate struct UserState {
        /// The time at which the user will have the full burst again unless more connections are served.
        ///
        /// Each served connection moves this time to one interval after its previous value or after the current time,
        /// whichever is later.
        var servedUntil = Instant()
        var waiting: [Connection] = []
        /// True if a connection of the user was refused, and the user has had connections waiting ever since.
        var hasRefused = false
    }

    private let burst: Int
    private let interval: Duration
    private let mostWaitingOfUser: Int
    private let mostWaiting: Int
    /// The state of each user, by user ID; `nil` stands for users that the kernel does not report.
    private var users: [UInt32?: UserState] = [:]
    /// The users with waiting connections, in the order in which they started to wait.
    private var queue: [UInt32?] = []
    private var waitingCount = 0

    init(burst: Int, then interval: Duration, mostWaitingOfUser: Int = 64, mostWaiting: Int = 512) {
        precondition(burst > 0 && interval >= .zero, "the rate limit must be positive")
        self.burst = burst
        self.interval = interval
        self.mostWaitingOfUser = mostWaitingOfUser
        self.mostWaiting = mostWaiting
    }

    enum OnAccept {
        /// The connection is to be served now.
        case serve(Connection)
        /// The connection waits until ``AcceptRateLimiter/takeDue(at:)`` returns it.
        case wait
        /// Too many connections wait, or too many users are tracked.
        ///
        /// `isFirst` is false if another connection of the user was refused before, and the user has had connections
        /// waiting ever since. It is also false if too many users are tracked.
        case refuse(Connection, isFirst: Bool)
    }

    /// Processes a new connection from a user, and returns what to do with it.
    mutating func accept(_ connection: Connection, of user: UInt32?, at now: Instant) -> OnAccept {
        if users.count >= Self.mostUsers { users = users.filter { !isIdle($0.value, at: now) } }
        guard users.count < Self.mostUsers || users[user] != nil else { return .refuse(connection, isFirst: false) }
        var userState = users[user] ?? UserState()
        defer { users[user] = userState }
        if userState.waiting.isEmpty, nextServiceTime(of: userState) <= now {
            count(&userState, at: now)
            return .serve(connection)
        }
        guard userState.waiting.count < mostWaitingOfUser, waitingCount < mostWaiting else {
            defer { userState.hasRefused = true }
            return .refuse(connection, isFirst: !userState.hasRefused)
        }
        if userState.waiting.isEmpty { queue.append(user) }
        userState.waiting.append(connection)
        waitingCount += 1
        return .wait
    }

    /// The time at which ``takeDue(at:)`` will next return a connection; `nil` if no connection waits.
    var deadline: Instant? { queue.lazy.compactMap { user in users[user].map { nextServiceTime(of: $0) } }.min() }

    /// Removes and returns the connections that have waited long enough.
    mutating func takeDue(at now: Instant) -> [Connection] {
        var taken: [Connection] = []
        for user in queue {
            guard var userState = users[user] else { continue }
            var count = 0
            while count < userState.waiting.count, nextServiceTime(of: userState) <= now {
                self.count(&userState, at: now)
                count += 1
            }
            taken += userState.waiting.prefix(count)
            userState.waiting.removeFirst(count)
            waitingCount -= count
            if userState.waiting.isEmpty { userState.hasRefused = false }
            users[user] = userState
        }
        queue.removeAll { users[$0]?.waiting.isEmpty ?? true }
        return taken
    }

    /// Drops all waiting connections and the state of all users.
    mutating func removeAll() { (users, queue, waitingCount) = ([:], [], 0) }

    private func count(_ userState: inout UserState, at now: Instant) {
        userState.servedUntil = max(userState.servedUntil, now) + interval
    }

    /// The earliest time at which the user's next connection can be served.
    private func nextServiceTime(of userState: UserState) -> Instant { userState.servedUntil + interval * (1 - burst) }

    private func isIdle(_ userState: UserState, at now: Instant) -> Bool {
        userState.waiting.isEmpty && userState.servedUntil <= now
    }
}

extension AcceptRateLimiter: Sendable where Connection: Sendable {}

extension AcceptRateLimiter.UserState: Sendable where Connection: Sendable {}
