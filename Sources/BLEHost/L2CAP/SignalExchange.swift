import BLEWire

/// This host's pending signalling requests on one link, and their timeouts.
///
/// Several requests may be pending at the same time; the identifier matches a response to its request.
///
/// Core 6.0, Vol 3, Part A, 4 and 6.2.
struct SignalExchange {
    /// A pending request.
    enum Request: Equatable {
        /// A request for new connection parameters.
        case parameters
        /// A request for the channel with this local identifier.
        case open(ChannelIdentifier)
        /// A request for the channels with these local identifiers, in the order of the request.
        case openSeveral([ChannelIdentifier])
        /// A request for new sizes, in octets, on the channels with these local identifiers.
        case resize([ChannelIdentifier], mtu: Int, mps: Int)
        /// A request to close a channel.
        case disconnect(ChannelID)
    }

    private struct Entry {
        let identifier: SignalIdentifier
        let request: Request
        var due: Instant
    }

    /// The response timeout.
    ///
    /// The specification allows 1 s to 60 s.
    static let timeout = Duration.seconds(30)
    /// The response timeout after the peer has responded that a request is pending.
    ///
    /// The specification allows 60 s to 300 s.
    static let extendedTimeout = Duration.seconds(120)

    /// The pending requests, oldest first.
    private var entries: [Entry] = []
    private var identifier = SignalIdentifier.first

    /// The time at which to call ``expire(at:)`` unless something happens first.
    var deadline: Instant? { entries.lazy.map(\.due).min() }

    /// Returns whether this request is pending.
    func isAsking(_ request: Request) -> Bool { isAsking { $0 == request } }

    /// Returns whether a request that satisfies `fits` is pending.
    func isAsking(where fits: (Request) -> Bool) -> Bool { entries.contains { fits($0.request) } }

    /// Records a request that is sent now, and returns its identifier.
    mutating func begin(_ request: Request, at now: Instant) -> SignalIdentifier {
        precondition(entries.count < 255, "at most 255 signals may be in flight")
        let identifier = makeIdentifier()
        entries.append(Entry(identifier: identifier, request: request, due: now + Self.timeout))
        return identifier
    }

    /// Returns an unused identifier.
    mutating func makeIdentifier() -> SignalIdentifier {
        while entries.contains(where: { $0.identifier == identifier }) { identifier = identifier.next }
        defer { identifier = identifier.next }
        return identifier
    }

    /// Removes and returns the request with this identifier if it satisfies `fits`; otherwise returns `nil`.
    mutating func finish(_ identifier: SignalIdentifier, where fits: (Request) -> Bool) -> Request? {
        guard let index = entries.firstIndex(where: { $0.identifier == identifier && fits($0.request) }) else {
            return nil
        }
        return entries.remove(at: index).request
    }

    /// Removes a request whose response no longer matters.
    mutating func drop(_ request: Request) { entries.removeAll { $0.request == request } }

    /// Extends the timeout of a request, because the peer has responded that the request is pending.
    ///
    /// - Returns: `false` if no pending request has this identifier and satisfies `fits`.
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

/// The responses with which this host refuses to pair.
enum PairingRefusal {
    /// Pairing Failed with the reason Pairing Not Supported.
    static let refusal: [UInt8] = [0x05, 0x05]
    /// The opcodes of Pairing Request and Security Request, which need a response.
    private static let requests: [UInt8] = [0x01, 0x0B]

    /// Returns whether a packet is a Pairing Request.
    static func isPairingRequest(_ packet: Span<UInt8>) -> Bool { packet.count > 0 && packet[0] == 0x01 }

    /// Returns whether a Pairing Request says that the peer has this host's out-of-band data.
    static func showsOutOfBandData(_ packet: Span<UInt8>) -> Bool { packet.count > 2 && packet[2] == 0x01 }

    /// Returns the response to a packet; `nil` if the packet needs none.
    static func answer(to packet: Span<UInt8>) -> [UInt8]? {
        packet.count > 0 && requests.contains(packet[0]) ? refusal : nil
    }
}
