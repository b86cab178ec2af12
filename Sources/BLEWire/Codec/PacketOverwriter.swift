/// Writes headers over room that was left for them.
struct PacketOverwriter: Wire {
    private(set) var bytes: [UInt8]
    private var offset = 0

    init(_ bytes: consuming [UInt8]) { self.bytes = bytes }

    @inline(__always)
    mutating func integer<T: WireInteger>(
        _ value: inout T,
        _ name: StaticString
    ) throws(PacketError) {
        for i in 0..<(T.bitWidth / 8) {
            bytes[offset + i] = UInt8(truncatingIfNeeded: value &>> T(truncatingIfNeeded: 8 * i))
        }
        offset += T.bitWidth / 8
    }

    @inline(__always)
    mutating func narrow(_ value: inout UInt64, octets: Int, _ name: StaticString) throws(PacketError) {
        for i in 0..<octets { bytes[offset + i] = UInt8(truncatingIfNeeded: value &>> UInt64(8 * i)) }
        offset += octets
    }

    @inline(__always)
    mutating func bytes(_ value: inout [UInt8], count: Int, _ name: StaticString) throws(PacketError) {
        for octet in value {
            bytes[offset] = octet
            offset += 1
        }
    }

    @inline(__always)
    mutating func rest(_ value: inout [UInt8], _ name: StaticString) throws(PacketError) {
        try bytes(&value, count: value.count, name)
    }

    @inline(__always)
    mutating func size(_ current: Int, among choices: [Int], _ name: StaticString) throws(PacketError) -> Int {
        current
    }

    @inline(__always)
    mutating func extent(
        _ current: Int,
        before trailing: Int,
        limit: Int?,
        _ name: StaticString
    ) throws(PacketError) -> Int { current }

    @inline(__always)
    mutating func hasElement(at index: Int, of count: Int) -> Bool { index < count }

    /// Writes a packet behind what was written before.
    @inline(__always)
    mutating func write(_ packet: some Packet) {
        var copy = packet
        do { try copy.layout(&self) } catch { preconditionFailure("\(packet) has no encoding: \(error)") }
    }

    /// Writes one octet.
    @inline(__always)
    mutating func write(octet: UInt8) {
        bytes[offset] = octet
        offset += 1
    }
}
