/// The header of an ACL data packet.
///
/// A fragment of an L2CAP packet follows it.
///
/// Core 6.0, Vol 4, Part E, 5.4.2.
@usableFromInline package struct ACLHeader: Packet {
    /// The length of the header, in octets.
    @inlinable package static var size: Int { 4 }

    /// The position of a fragment in its L2CAP packet.
    package enum Boundary: UInt16, Sendable {
        case firstFromHost = 0, continuing = 1, firstFromController = 2
    }

    package var handle = ConnectionHandle.lowest
    package var boundary = Boundary.firstFromHost
    /// The number of octets after the header.
    package var length: UInt16 = 0

    package init() {}
    package init(handle: ConnectionHandle, boundary: Boundary, length: UInt16) {
        self.handle = handle
        self.boundary = boundary
        self.length = length
    }

    @inline(__always)
    package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        var packed = HandleAndFlags(handle: handle, boundary: boundary)
        try wire.field(&packed, "Connection Handle and Flags")
        handle = packed.handle
        boundary = packed.boundary
        try wire.integer(&length, "Data Total Length")
    }
}

extension ACLHeader {
    /// The number of octets in front of the data in an H4 packet: the packet type and this header.
    @inlinable package static var h4Size: Int { 1 + size }

    /// The packet type and this header as ``h4Size`` octets in one integer, with the first octet in the lowest eight
    /// bits.
    var h4: UInt64 {
        @inline(__always) get {
            var header = HeaderEncoder()
            header.append(octet: HCI.PacketType.acl.wire)
            header.append(self)
            return header.octets
        }
    }

    /// Writes the packet type and this header into the octets reserved for them at the front of `packet`.
    package func begin(_ packet: inout [UInt8]) {
        let h4 = h4
        for index in 0..<Self.h4Size { packet[index] = UInt8(truncatingIfNeeded: h4 &>> UInt64(8 &* index)) }
    }
}

/// The connection handle (12 bits), the boundary flag (two bits), and the broadcast flag (two bits, zero on LE links).
private struct HandleAndFlags: WireField, CustomStringConvertible {
    let handle: ConnectionHandle
    let boundary: ACLHeader.Boundary

    init(handle: ConnectionHandle, boundary: ACLHeader.Boundary) {
        self.handle = handle
        self.boundary = boundary
    }

    @inline(__always)
    init?(wire: UInt16) {
        guard let handle = ConnectionHandle(wire: wire & 0x0FFF),
            let boundary = ACLHeader.Boundary(rawValue: wire >> 12)
        else { return nil }
        self.handle = handle
        self.boundary = boundary
    }

    var wire: UInt16 { handle.wire | boundary.rawValue << 12 }

    var description: String {
        switch boundary {
        case .firstFromHost: "\(handle), first fragment from the host"
        case .continuing: "\(handle), continuing fragment"
        case .firstFromController: "\(handle), first fragment from the controller"
        }
    }
}

// These members are not generic, so that the generic code is specialized in this module, and other modules only call
// it.
extension ACLHeader {
    /// Decodes a header from the front of `decoder`.
    ///
    /// - Throws: ``PacketError/truncated(field:)`` for fewer than four octets; ``PacketError/reserved(field:)`` for a
    ///   handle above 0x0EFF, and for flags that LE does not use.
    package init(from decoder: inout PacketDecoder) throws(PacketError) {
        self.init()
        try layout(&decoder)
    }

    /// Appends this header.
    package func encode(into encoder: inout PacketEncoder) { encoder.append(self) }
}
