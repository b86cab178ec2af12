import BLEWire

/// A reusable buffer for copying the octets of spans into arrays.
///
/// The octets of a span can only be appended to an array one at a time, and each time the capacity is checked. This
/// buffer is an array, and a slice of an array is copied in one step, into storage of the exact size.
struct CopyBuffer {
    private var octets = [UInt8](repeating: 0, count: 512)

    /// Returns a copy of the octets in `span`.
    mutating func copy(_ span: Span<UInt8>) -> [UInt8] {
        let count = span.count
        guard count <= octets.count else { return [UInt8](copying: span) }
        for index in 0..<count { octets[index] = span[index] }
        return [UInt8](octets[..<count])
    }
}
