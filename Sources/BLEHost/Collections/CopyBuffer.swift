import BLEWire

/// A reusable buffer for copying borrowed octets into arrays.
///
/// Borrowed octets can only be appended to an array one at a time, each with a check of the count. A slice of an array
/// is copied at once, into storage of the exact size.
struct CopyBuffer {
    private var octets = [UInt8](repeating: 0, count: 512)

    /// Returns a copy of these octets.
    mutating func copy(_ span: Span<UInt8>) -> [UInt8] {
        let count = span.count
        guard count <= octets.count else { return [UInt8](copying: span) }
        for index in 0..<count { octets[index] = span[index] }
        return [UInt8](octets[..<count])
    }
}
