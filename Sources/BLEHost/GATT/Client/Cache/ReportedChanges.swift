import BLEWire

/// The changes of a peer's services that were reported to clients.
///
/// A peer may report changes hundreds of times per second. Clients are not informed of the same change again before one
/// of them has made another discovery or subscribed again.
struct ReportedChanges {
    /// The maximum number of separate ranges.
    ///
    /// A further range replaces the oldest one, so that the next change in the oldest range is reported to clients.
    static let most = 64

    /// The reported ranges of handles, oldest first.
    private var ranges: [AttributeHandleRange] = []

    /// Records that services in `range` changed.
    ///
    /// - Returns: True if clients have to be informed.
    mutating func note(_ range: AttributeHandleRange) -> Bool {
        guard !ranges.contains(where: { $0.contains(range.start) && $0.contains(range.end) }) else { return false }
        var whole = range
        ranges.removeAll { other in
            guard other.touches(whole), let joined = other.joined(with: whole) else { return false }
            whole = joined
            return true
        }
        ranges.append(whole)
        if ranges.count > Self.most { ranges.removeFirst() }
        return true
    }

    /// Records that a client has made another discovery or subscribed again.
    ///
    /// The client has to be informed of all further changes.
    mutating func clear() { if !ranges.isEmpty { ranges = [] } }
}

extension AttributeHandleRange {
    /// Returns whether the ranges overlap or are adjacent.
    fileprivate func touches(_ other: Self) -> Bool {
        Int(start.wire) <= Int(other.end.wire) + 1 && Int(other.start.wire) <= Int(end.wire) + 1
    }
}
