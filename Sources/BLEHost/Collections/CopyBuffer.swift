import BLEWire

/// Makes arrays of borrowed octets, by way of one that stays.
///
/// What is borrowed can be put into an array only octet by octet, each with a look at how many there are; a part of an
/// array is copied as one, into storage that is just as large.
struct CopyBuffer {
    private var octets = [UInt8](repeating: 0, count: 512)

    /// A copy of these octets.
    mutating func copy(_ span: Span<UInt8>) -> [UInt8] {
        let count = span.count
        guard count <= octets.count else { return [UInt8](copying: span) }
        for index in 0..<count { octets[index] = span[index] }
        return [UInt8](octets[..<count])
    }
}
