/// A view of an ATT packet that arrived whole in a single ACL packet, as most do.
///
/// It stores only the connection handle, the kind of packet and the number of parameter octets. The parameters stay in
/// the received packet.
///
/// Most members can be inlined into other modules, because the host tries to create this view from every received
/// packet.
///
/// Core 6.0, Vol 4, Part E, 5.4.2; Vol 3, Part A, 3.1 and Part F, 3.3.1.
@usableFromInline package struct AttributePacket: Equatable, Sendable {
    /// The offset of the opcode in the H4 packet, after the packet type and the ACL and L2CAP headers.
    @inlinable package static var start: Int { ACLHeader.h4Size + L2CAPHeader.size }

    /// The kind of packet: one of the most frequent kinds, or ``other``.
    @usableFromInline package enum Kind: Equatable, Sendable {
        case readRequest, readResponse, writeRequest, writeResponse, writeCommand, notification
        case other

        @inlinable @inline(__always)
        package init(opcode: UInt8) {
            switch opcode {
            case ATT.Opcode.readRequest.wire: self = .readRequest
            case ATT.Opcode.readResponse.wire: self = .readResponse
            case ATT.Opcode.writeRequest.wire: self = .writeRequest
            case ATT.Opcode.writeResponse.wire: self = .writeResponse
            case ATT.Opcode.writeCommand.wire: self = .writeCommand
            case ATT.Opcode.handleValueNotification.wire: self = .notification
            default: self = .other
            }
        }
    }

    @usableFromInline package let link: ConnectionHandle
    @usableFromInline package let kind: Kind
    /// The number of octets after the opcode.
    @usableFromInline package let parameterCount: Int

    /// Reads the headers of an H4 packet; returns `nil` unless it is ACL data from the controller with one whole ATT
    /// packet.
    @inlinable @inline(__always)
    package init?(_ packet: Span<UInt8>) {
        let count = packet.count, start = Self.start
        guard count > start else { return nil }
        // The packet type, the connection handle with its flags, both lengths and the channel are read as one number.
        let head = packet.extracting(0..<(start &+ 1))
        let low = UInt32(head[0]) | UInt32(head[1]) << 8 | UInt32(head[2]) << 16 | UInt32(head[3]) << 24
        let high = UInt32(head[4]) | UInt32(head[5]) << 8 | UInt32(head[6]) << 16 | UInt32(head[7]) << 24
        let word = UInt64(low) | UInt64(high) << 32, field = UInt16(truncatingIfNeeded: word >> 8)
        guard head[0] == HCI.PacketType.acl.wire,
            field >> 12 == 0x2,  // ``ACLHeader/Boundary/firstFromController``
            let link = ConnectionHandle(wire: field & 0x0FFF),
            Int(truncatingIfNeeded: word >> 24 & 0xFFFF) == count &- 5,
            Int(truncatingIfNeeded: word >> 40 & 0xFFFF) == count &- start,
            UInt16(head[7]) | UInt16(head[8]) << 8 == ChannelIdentifier.attribute.wire
        else { return nil }
        self.link = link
        kind = Kind(opcode: head[start])
        parameterCount = count &- start &- 1
    }

    /// Returns the attribute handle after the opcode; `nil` if the packet is too short.
    ///
    /// `packet` must be the packet that this view was created from.
    @inlinable @inline(__always)
    package func attribute(in packet: Span<UInt8>) -> AttributeHandle? {
        let start = Self.start
        guard packet.count >= start &+ 3 else { return nil }
        return AttributeHandle(wire: UInt16(packet[start &+ 1]) | UInt16(packet[start &+ 2]) << 8)
    }

    /// Decodes a discovery request; returns `nil` for other packets and for malformed ones.
    ///
    /// `packet` must be the packet that this view was created from.
    package func search(in packet: Span<UInt8>) -> ATTPacket? {
        let pdu = packet.extracting(droppingFirst: Self.start)
        guard !pdu.isEmpty, ATT.Opcode(wire: pdu[0]).isSearch else { return nil }
        return try? ATTPacket(decoding: pdu)
    }

    /// Returns the octets after the opcode, without the first `count` of them.
    ///
    /// `packet` must be the packet that this view was created from.
    @inlinable @inline(__always)
    @_lifetime(copy packet)
    package func value(in packet: Span<UInt8>, droppingFirst count: Int) -> Span<UInt8> {
        packet.extracting(droppingFirst: Self.start &+ 1 &+ count)
    }
}
