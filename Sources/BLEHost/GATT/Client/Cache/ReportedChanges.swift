import BLEWire

/// The changes of a peer's services that clients know of: repeating one tells them nothing until they look again.
///
/// A peer may say hundreds of times a second that its services changed.
struct ReportedChanges {
    /// How many separate ranges are kept; further ones replace the oldest, which is told again.
    static let most = 64

    /// The handles that clients know to have changed, in the order in which they were told.
    private var ranges: [AttributeHandleRange] = []

    /// Notes that services in `range` changed.
    ///
    /// - Returns: Whether clients have to be told.
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

    /// Notes that a client has looked at the peer's attributes again.
    mutating func clear() { if !ranges.isEmpty { ranges = [] } }
}

extension AttributeHandleRange {
    /// Returns whether there is no handle between this range and another.
    fileprivate func touches(_ other: Self) -> Bool {
        Int(start.wire) <= Int(other.end.wire) + 1 && Int(other.start.wire) <= Int(end.wire) + 1
    }
}
