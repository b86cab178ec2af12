import BLEWire

/// The pending signalling requests of this end of a link, and their timeouts.
///
/// Any number may be pending; the identifier matches a response to its request.
///
/// Core 6.0, Vol 3, Part A, 4 and 6.2.
struct SignalExchange {
    /// The kind of request.
    enum Request: Equatable {
        /// For other connection parameters.
        case parameters
        /// For the channel with this local identifier.
        case open(ChannelIdentifier)
        /// For the channels with these local identifiers, in the order of the request.
        case openSeveral([ChannelIdentifier])
        /// For new sizes on the channels with these local identifiers, in octets.
        case resize([ChannelIdentifier], mtu: Int, mps: Int)
        /// To close a channel.
        case disconnect(ChannelID)
    }

    private struct Entry {
        let identifier: SignalIdentifier
        let request: Request
        var due: Instant
    }

    /// The response timeout, which may be 1 s to 60 s.
    static let timeout = Duration.seconds(30)
    /// The extended response timeout after a pending response, which may be 60 s to 300 s.
    static let extendedTimeout = Duration.seconds(120)

    /// In the order of the requests.
    private var entries: [Entry] = []
    private var identifier = SignalIdentifier.first

    /// The time at which to call ``expire(at:)`` unless something happens first.
    var deadline: Instant? { entries.lazy.map(\.due).min() }

    /// Returns whether this request is pending.
    func isAsking(_ request: Request) -> Bool { isAsking { $0 == request } }

    /// Returns whether a matching request is pending.
    func isAsking(where fits: (Request) -> Bool) -> Bool { entries.contains { fits($0.request) } }

    /// Records a request that is sent now, and returns its identifier.
    mutating func begin(_ request: Request, at now: Instant) -> SignalIdentifier {
        precondition(entries.count < 255, "too many signals are in flight")
        let identifier = makeIdentifier()
        entries.append(Entry(identifier: identifier, request: request, due: now + Self.timeout))
        return identifier
    }

    /// Returns an unused identifier for a packet without a response.
    mutating func makeIdentifier() -> SignalIdentifier {
        while entries.contains(where: { $0.identifier == identifier }) { identifier = identifier.next }
        defer { identifier = identifier.next }
        return identifier
    }

    /// Removes and returns the request with this identifier, if it is of the answered kind.
    mutating func finish(_ identifier: SignalIdentifier, where fits: (Request) -> Bool) -> Request? {
        guard let index = entries.firstIndex(where: { $0.identifier == identifier && fits($0.request) }) else {
            return nil
        }
        return entries.remove(at: index).request
    }

    /// Removes a request whose response does not matter any more.
    mutating func drop(_ request: Request) { entries.removeAll { $0.request == request } }

    /// Extends the timeout of a request after a pending response.
    ///
    /// - Returns: True if such an operation is in progress.
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

    /// Removes and returns the requests that have timed out.
    mutating func expire(at now: Instant) -> [Request] {
        let overdue = entries.filter { $0.due <= now }.map(\.request)
        if !overdue.isEmpty { entries.removeAll { $0.due <= now } }
        return overdue
    }
}
