/// A packet of the Attribute Protocol that came whole in one packet of the controller, as most do: looked at where it
/// lies.
///
/// All of it can be put in line by other modules, for each packet that comes in is looked at so.
///
/// Core 6.0, Vol 4, Part E, 5.4.2; Vol 3, Part A, 3.1 and Part F, 3.3.1.
@usableFromInline package struct AttributePacket: Equatable, Sendable {
    /// Where the opcode is in the H4 packet: behind its type and the headers of ACL and L2CAP.
    @inlinable package static var start: Int { ACLHeader.h4Size + L2CAPHeader.size }

    /// What it is, if it is a matter of one value.
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
    /// How many octets follow the opcode.
    @usableFromInline package let parameterCount: Int

    /// Looks at a whole H4 packet; `nil` if it holds anything else, or that in another form.
    @inlinable @inline(__always)
    package init?(_ packet: Span<UInt8>) {
        let count = packet.count, start = Self.start
        guard count > start else { return nil }
        // The type, the link with its flags, both lengths, and the channel: one number, the first octet lowest.
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

    /// The handle that follows the opcode in the packet that this was made of; `nil` if it is too short for one.
    @inlinable @inline(__always)
    package func attribute(in packet: Span<UInt8>) -> AttributeHandle? {
        let start = Self.start
        guard packet.count >= start &+ 3 else { return nil }
        return AttributeHandle(wire: UInt16(packet[start &+ 1]) | UInt16(packet[start &+ 2]) << 8)
    }

    /// The request for attributes, as discovery has them, in the packet that this was made of; `nil` if that is none.
    package func search(in packet: Span<UInt8>) -> ATTPacket? {
        let pdu = packet.extracting(droppingFirst: Self.start)
        guard !pdu.isEmpty, ATT.Opcode(wire: pdu[0]).isSearch else { return nil }
        return try? ATTPacket(decoding: pdu)
    }

    /// The octets that follow the opcode, but for so many, in the packet that this was made of.
    @inlinable @inline(__always)
    @_lifetime(copy packet)
    package func value(in packet: Span<UInt8>, droppingFirst count: Int) -> Span<UInt8> {
        packet.extracting(droppingFirst: Self.start &+ 1 &+ count)
    }
}
