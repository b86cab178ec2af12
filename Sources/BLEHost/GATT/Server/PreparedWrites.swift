package import BLEWire

/// The queue of the writes that one peer has prepared, but not executed.
///
/// Core 6.0, Vol 3, Part F, 3.4.6.
package struct PreparedWrites: Sendable {
    package struct Part: Equatable, Sendable {
        package let handle: AttributeHandle
        package let offset: Int
        package let value: [UInt8]
        package init(handle: AttributeHandle, offset: Int, value: [UInt8]) {
            self.handle = handle
            self.offset = offset
            self.value = value
        }
    }

    private let limit: Int
    private var parts: [Part] = []

    /// Creates a queue with a capacity of `limit` parts.
    package init(limit: Int) { self.limit = limit }

    package var isEmpty: Bool { parts.isEmpty }

    /// Queues a part; returns `false` if there is no room.
    package mutating func append(_ part: Part) -> Bool {
        guard parts.count < limit else { return false }
        parts.append(part)
        return true
    }

    /// Removes and returns all parts in order.
    package mutating func removeAll() -> [Part] {
        defer { parts = [] }
        return parts
    }

    /// Returns the value after writing `parts` over `old` in order, truncated after the last octet that was written.
    ///
    /// - Returns: The new value, or ``ATT/ErrorCode/invalidOffset`` if a part begins after the end of the value, or
    ///   ``ATT/ErrorCode/invalidAttributeValueLength`` if the value would be longer than `limit`.
    package static func value(
        _ old: [UInt8],
        with parts: [Part],
        limit: Int
    ) -> Result<[UInt8], ATT.ErrorCode> {
        var value = old, end = 0
        for part in parts {
            guard part.offset <= value.count else { return .failure(.invalidOffset) }
            let last = part.offset + part.value.count
            guard last <= limit else { return .failure(.invalidAttributeValueLength) }
            value.replaceSubrange(part.offset..<min(last, value.count), with: part.value)
            end = max(end, last)
        }
        return .success([UInt8](value.prefix(end)))
    }
}
