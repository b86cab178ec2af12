/// The queue of L2CAP fragments that a host sends on one connection; a fragment stays in the queue until the peer has
/// acknowledged it.
///
/// The length of the queue is limited by the controller's buffers: if a host sends more, the controller drops the
/// excess.
struct OutgoingData: Sendable {
    private struct Fragment: Sendable {
        let octets: [UInt8]
        let isStart: Bool
    }

    private var fragments: [Fragment] = []
    /// The number of acknowledged octets in the first fragment.
    private var offset = 0

    /// The number of fragments that are queued or in flight.
    var count: Int { fragments.count }

    /// Appends a fragment of at least one octet; `isStart` is true if it is the start of an L2CAP packet.
    mutating func append(_ octets: [UInt8], isStart: Bool) {
        precondition(!octets.isEmpty, "an empty fragment cannot be acknowledged")
        fragments.append(Fragment(octets: octets, isStart: isStart))
    }

    /// Returns the number of octets that the next packet carries, at most `limit`; `nil` if there is nothing to send.
    ///
    /// `sent` is the number of octets that are in flight and precede those of the next packet.
    func next(limit: Int, after sent: Int = 0) -> Int? {
        guard let first = fragments.first else { return nil }
        let rest = first.octets.count - offset - sent
        if rest > 0 { return min(limit, rest) }
        return fragments.count > 1 ? min(limit, fragments[1].octets.count) : nil
    }

    /// Returns whether there is more to send after the `count` octets that are in flight.
    func hasMore(than count: Int) -> Bool {
        guard let first = fragments.first else { return false }
        return fragments.count > 1 || first.octets.count - offset > count
    }

    /// Returns the next `count` octets, and whether they are the start of an L2CAP packet.
    func octets(_ count: Int) -> (octets: ArraySlice<UInt8>, isStart: Bool) {
        guard let first = fragments.first else { return ([], false) }
        let end = min(offset + count, first.octets.count)
        return (first.octets[offset..<end], first.isStart && offset == 0)
    }

    /// Removes the next `count` octets, which the peer has acknowledged.
    ///
    /// - Returns: True if the peer has now acknowledged the whole fragment.
    mutating func acknowledge(_ count: Int) -> Bool {
        guard let first = fragments.first else { return false }
        offset += count
        guard offset >= first.octets.count else { return false }
        fragments.removeFirst()
        offset = 0
        return true
    }
}
