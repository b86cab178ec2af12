import BLEWire

/// What this end of a link has asked the other on the signalling channel, and when the answers are due.
///
/// Any number may be under way; the identifier says which of them an answer is for.
///
/// Core 6.0, Vol 3, Part A, 4 and 6.2.
struct SignalExchange {
    /// What was asked.
    enum Request: Equatable {
        /// For other connection parameters.
        case parameters
        /// For the channel that this end names so.
        case open(ChannelIdentifier)
        /// For the channels that this end names so, in the order of the request.
        case openSeveral([ChannelIdentifier])
        /// To send SDUs and K-frames of these sizes, in octets, on the channels that this end names so.
        case resize([ChannelIdentifier], mtu: Int, mps: Int)
        /// To close a channel.
        case disconnect(ChannelID)
    }

    private struct Entry {
        let identifier: SignalIdentifier
        let request: Request
        var due: Instant
    }

    /// How long the peer may take to answer: the response timeout, which is 1 s to 60 s.
    static let timeout = Duration.seconds(30)
    /// How long it may take once it has said that it needs time: the extended one, which is 60 s to 300 s.
    static let extendedTimeout = Duration.seconds(120)

    /// In the order in which they were asked.
    private var entries: [Entry] = []
    private var identifier = SignalIdentifier.first

    /// When to call ``expire(at:)``, if nothing happens before.
    var deadline: Instant? { entries.lazy.map(\.due).min() }

    /// Whether this is under way.
    func isAsking(_ request: Request) -> Bool { isAsking { $0 == request } }

    /// Whether something like that is under way.
    func isAsking(where fits: (Request) -> Bool) -> Bool { entries.contains { fits($0.request) } }

    /// Notes a request that goes out now, and says which identifier it has.
    mutating func begin(_ request: Request, at now: Instant) -> SignalIdentifier {
        precondition(entries.count < 255, "a channel has one request under way at most, and a link one more")
        let identifier = makeIdentifier()
        entries.append(Entry(identifier: identifier, request: request, due: now + Self.timeout))
        return identifier
    }

    /// An identifier that nothing under way has, for a packet that is not answered.
    mutating func makeIdentifier() -> SignalIdentifier {
        while entries.contains(where: { $0.identifier == identifier }) { identifier = identifier.next }
        defer { identifier = identifier.next }
        return identifier
    }

    /// Hands out the request with this identifier, if it is of the kind that was answered, and is done with it.
    mutating func finish(_ identifier: SignalIdentifier, where fits: (Request) -> Bool) -> Request? {
        guard let index = entries.firstIndex(where: { $0.identifier == identifier && fits($0.request) }) else {
            return nil
        }
        return entries.remove(at: index).request
    }

    /// Is done with a request whose answer makes no difference any more.
    mutating func drop(_ request: Request) { entries.removeAll { $0.request == request } }

    /// Waits longer for an answer, since the peer has said that it needs time.
    ///
    /// - Returns: Whether something like that is under way.
    mutating func postpone(
        _ identifier: SignalIdentifier,
        at now: Instant,
        where fits: (Request) -> Bool
    ) -> Bool {
        guard let index = entries.firstIndex(where: { $0.identifier == identifier && fits($0.request) }) else {
            return false
        }
        entries[index].due = now + Self.extendedTimeout
        return true
    }

    /// Gives up what is overdue, and hands it out.
    mutating func expire(at now: Instant) -> [Request] {
        let overdue = entries.filter { $0.due <= now }.map(\.request)
        if !overdue.isEmpty { entries.removeAll { $0.due <= now } }
        return overdue
    }
}
