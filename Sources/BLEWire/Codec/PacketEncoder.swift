/// An encoder that appends packets to a reusable buffer.
package struct PacketEncoder: Wire {
    package private(set) var bytes: [UInt8]

    package init(reservingCapacity capacity: Int = 64) {
        bytes = []
        bytes.reserveCapacity(capacity)
    }

    /// Removes the encoded octets and keeps the storage.
    package mutating func reset() { bytes.removeAll(keepingCapacity: true) }

    @inline(__always)
    package mutating func integer<T: WireInteger>(
        _ value: inout T,
        _ name: StaticString
    ) throws(PacketError) {
        let (low, high) = value.halves
        for i in 0..<min(T.octets, 8) { bytes.append(UInt8(truncatingIfNeeded: low &>> UInt64(8 * i))) }
        guard T.octets > 8 else { return }
        for i in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: high &>> UInt64(8 * i))) }
    }

    @inline(__always)
    package mutating func field<F: WireField>(_ value: inout F, _ name: StaticString) throws(PacketError) {
        var raw = value.wire
        try integer(&raw, name)
    }

    @inline(__always)
    package mutating func narrow(_ value: inout UInt64, octets: Int, _ name: StaticString) throws(PacketError) {
        for i in 0..<octets { bytes.append(UInt8(truncatingIfNeeded: value &>> UInt64(8 * i))) }
    }

    @inline(__always)
    package mutating func bytes(_ value: inout [UInt8], count: Int, _ name: StaticString) throws(PacketError) {
        precondition(value.count == count, "a field must have \(count) octets, not \(value.count)")
        bytes.append(contentsOf: value)
    }

    @inline(__always)
    package mutating func rest(_ value: inout [UInt8], _ name: StaticString) throws(PacketError) {
        bytes.append(contentsOf: value)
    }

    @inline(__always)
    package mutating func valueList(
        _ octets: inout [UInt8],
        length: Int,
        _ handleName: StaticString,
        _ valueName: StaticString
    ) throws(PacketError) { bytes.append(contentsOf: octets) }

    /// Appends a packet.
    ///
    /// Encoding cannot fail, because every value of a packet type is a valid packet.
    @inline(__always)
    package mutating func append(_ packet: some Packet) {
        var copy = packet
        do { try copy.layout(&self) } catch { preconditionFailure("cannot encode \(packet): \(error)") }
    }

    /// Appends one octet.
    @inline(__always)
    package mutating func append(octet: UInt8) { bytes.append(octet) }

    /// Replaces an octet that was appended earlier, such as a length that was not known at that time.
    @inline(__always)
    package mutating func replace(at index: Int, with octet: UInt8) { bytes[index] = octet }

    /// Removes everything after the first `count` octets.
    package mutating func truncate(to count: Int) { bytes.removeLast(bytes.count - count) }

    /// Appends a copy of octets that are already encoded.
    package mutating func append(copying octets: Span<UInt8>) { bytes.append(copying: octets) }

    /// Appends octets that are already encoded.
    package mutating func append(contentsOf octets: [UInt8]) { bytes.append(contentsOf: octets) }

    /// Appends octets that are already encoded.
    package mutating func append(contentsOf octets: ArraySlice<UInt8>) { bytes.append(contentsOf: octets) }
}

extension Packet {
    /// The octets of this packet as they are sent.
    package var encoded: [UInt8] {
        var encoder = PacketEncoder()
        encoder.append(self)
        return encoder.bytes
    }
}
