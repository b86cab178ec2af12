/// An encoder that packs headers into one integer, so that they can be written in one step.
///
/// All headers together may have at most eight octets.
struct HeaderEncoder: Wire {
    /// The packed octets; the first octet is the least significant.
    private(set) var octets: UInt64 = 0
    /// The number of packed octets.
    private(set) var count = 0

    @inline(__always)
    private mutating func append(_ value: UInt64, octets width: Int) {
        precondition(count + width <= 8, "headers have at most eight octets")
        octets |= value &<< UInt64(truncatingIfNeeded: 8 &* count)
        count &+= width
    }

    @inline(__always)
    mutating func integer<T: WireInteger>(_ value: inout T, _ name: StaticString) throws(PacketError) {
        append(value.halves.low, octets: T.octets)
    }

    @inline(__always)
    mutating func narrow(_ value: inout UInt64, octets: Int, _ name: StaticString) throws(PacketError) {
        append(value, octets: octets)
    }

    @inline(__always)
    mutating func bytes(_ value: inout [UInt8], count: Int, _ name: StaticString) throws(PacketError) {
        for octet in value { append(UInt64(octet), octets: 1) }
    }

    @inline(__always)
    mutating func rest(_ value: inout [UInt8], _ name: StaticString) throws(PacketError) {
        try bytes(&value, count: value.count, name)
    }

    /// Appends one octet.
    @inline(__always)
    mutating func append(octet: UInt8) { append(UInt64(octet), octets: 1) }

    /// Appends a header.
    @inline(__always)
    mutating func append(_ header: some Packet) {
        var copy = header
        do { try copy.layout(&self) } catch { preconditionFailure("cannot encode \(header): \(error)") }
    }
}
