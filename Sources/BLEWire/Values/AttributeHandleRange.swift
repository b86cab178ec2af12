/// A closed range of attribute handles, such as the range to search or the handles of a service.
///
/// A range is never empty and never contains 0x0000. Packets contain two separate handles instead of a range, because a
/// peer may send a start that is greater than the end.
///
/// Core 6.0, Vol 3, Part F, 3.2.2; Part G, 2.5.1.
package struct AttributeHandleRange: Hashable, Sendable {
    package let start: AttributeHandle
    package let end: AttributeHandle

    /// Creates a range; returns `nil` if `start` is 0x0000 or greater than `end`.
    package init?(_ start: AttributeHandle, _ end: AttributeHandle) {
        guard start != .none, start <= end else { return nil }
        self.start = start
        self.end = end
    }

    /// Creates a range that contains only `handle`; returns `nil` for 0x0000.
    package init?(_ handle: AttributeHandle) { self.init(handle, handle) }

    private init(unchecked start: UInt16, _ end: UInt16) {
        self.start = AttributeHandle(wire: start)
        self.end = AttributeHandle(wire: end)
    }

    /// Every handle that a server can have: 0x0001 to 0xFFFF.
    package static let all = Self(unchecked: 0x0001, 0xFFFF)

    /// The number of handles in this range, 1 to 65535.
    package var count: Int { Int(end.wire) - Int(start.wire) + 1 }

    package func contains(_ handle: AttributeHandle) -> Bool { start <= handle && handle <= end }

    /// Returns whether every handle of `other` is in this range.
    package func contains(_ other: Self) -> Bool { start <= other.start && other.end <= end }

    /// Returns whether the two ranges have a handle in common.
    package func overlaps(_ other: Self) -> Bool { start <= other.end && other.start <= end }

    /// Returns the part of this range after `handle`, for the continuation of a search; `nil` if that part is empty.
    package func after(_ handle: AttributeHandle) -> Self? {
        guard handle < end else { return nil }
        return Self(max(start, AttributeHandle(wire: handle.wire + 1)), end)
    }
}

extension AttributeHandleRange: CustomStringConvertible {
    package var description: String { "\(start)–\(end)" }
}
