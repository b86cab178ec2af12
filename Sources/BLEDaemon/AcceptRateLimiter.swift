import BLEWire

/// Limits how fast the connections of each user are served.
///
/// A user's connections are served at once up to a burst, then one in each interval. Those that come faster wait, and
/// beyond a limit they are refused, so that one user's connections never delay those of another. Time in which few come
/// is credited up to the burst.
///
/// A value: connections and the time in, connections to serve or to refuse out.
struct AcceptRateLimiter<Connection> {
    /// Most users that are counted at a time.
    private static var mostUsers: Int { 4_096 }

    fileprivate struct UserState {
        /// When all connections that were served would have come, had they kept the interval.
        var spent = Instant()
        var waiting: [Connection] = []
        /// True if one was refused since there was last room.
        var hasRefused = false
    }

    private let burst: Int
    private let interval: Duration
    private let mostWaitingOfUser: Int
    private let mostWaiting: Int
    /// By the number of the user; `nil` for those whom the kernel does not name.
    private var users: [UInt32?: UserState] = [:]
    /// The users with connections that wait, in the order in which they began to.
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
        /// Serve it now.
        case serve(Connection)
        /// It waits for ``AcceptRateLimiter/takeDue(at:)``.
        case wait
        /// Too many wait. `isFirst` unless another one of the user was refused since there was last room.
        case refuse(Connection, isFirst: Bool)
    }

    /// Counts a new connection of a user.
    mutating func accept(_ connection: Connection, of user: UInt32?, at now: Instant) -> OnAccept {
        if users.count >= Self.mostUsers { users = users.filter { !isIdle($0.value, at: now) } }
        guard users.count < Self.mostUsers || users[user] != nil else { return .refuse(connection, isFirst: false) }
        var userState = users[user] ?? UserState()
        defer { users[user] = userState }
        if userState.waiting.isEmpty, due(of: userState) <= now {
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

    /// When ``takeDue(at:)`` has something next; `nil` if no connection waits.
    var deadline: Instant? { queue.lazy.compactMap { user in users[user].map { due(of: $0) } }.min() }

    /// Takes the connections that have waited long enough.
    mutating func takeDue(at now: Instant) -> [Connection] {
        var taken: [Connection] = []
        for user in queue {
            guard var userState = users[user] else { continue }
            var count = 0
            while count < userState.waiting.count, due(of: userState) <= now {
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

    /// Forgets all connections that wait.
    mutating func removeAll() { (users, queue, waitingCount) = ([:], [], 0) }

    private func count(_ userState: inout UserState, at now: Instant) {
        userState.spent = max(userState.spent, now) + interval
    }

    /// When the next connection of a user may be served.
    private func due(of userState: UserState) -> Instant { userState.spent + interval * (1 - burst) }

    private func isIdle(_ userState: UserState, at now: Instant) -> Bool {
        userState.waiting.isEmpty && userState.spent <= now
    }
}

extension AcceptRateLimiter: Sendable where Connection: Sendable {}

extension AcceptRateLimiter.UserState: Sendable where Connection: Sendable {}
