/// The L2CAP fragments that a host gave for one connection, until they are acknowledged.
///
/// The host may not give more than the controller said that it has room for; what is beyond that is refused.
struct OutgoingData: Sendable {
    private struct Fragment: Sendable {
        let octets: [UInt8]
        let isStart: Bool
    }

    private var fragments: [Fragment] = []
    /// How much of the first fragment is acknowledged.
    private var offset = 0

    /// How many fragments wait or are in flight.
    var count: Int { fragments.count }

    /// Appends a fragment of at least one octet.
    mutating func append(_ octets: [UInt8], isStart: Bool) {
        precondition(!octets.isEmpty, "an empty fragment cannot be acknowledged")
        fragments.append(Fragment(octets: octets, isStart: isStart))
    }

    /// How many octets the next packet takes that may have `limit`; `nil` if there is nothing to send.
    func next(limit: Int) -> Int? {
        guard let first = fragments.first else { return nil }
        return min(limit, first.octets.count - offset)
    }

    /// Whether there is more than the `count` octets that are in flight.
    func hasMore(than count: Int) -> Bool {
        guard let first = fragments.first else { return false }
        return fragments.count > 1 || first.octets.count - offset > count
    }

    /// The next `count` octets, and whether an L2CAP packet begins with them.
    func octets(_ count: Int) -> (octets: ArraySlice<UInt8>, isStart: Bool) {
        guard let first = fragments.first else { return ([], false) }
        let end = min(offset + count, first.octets.count)
        return (first.octets[offset..<end], first.isStart && offset == 0)
    }

    /// Forgets the next `count` octets, which arrived.
    ///
    /// - Returns: Whether a fragment of the host is now complete.
    mutating func acknowledge(_ count: Int) -> Bool {
        guard let first = fragments.first else { return false }
        offset += count
        guard offset >= first.octets.count else { return false }
        fragments.removeFirst()
        offset = 0
        return true
    }
}
