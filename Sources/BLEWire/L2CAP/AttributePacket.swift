/// A packet of the Attribute Protocol that came whole in one packet of the controller, as most do: looked at where it
/// lies.
///
/// Core 6.0, Vol 4, Part E, 5.4.2; Vol 3, Part A, 3.1 and Part F, 3.3.1.
package struct AttributePacket: Equatable, Sendable {
    /// Where the opcode is in the H4 packet: behind its type and the headers of ACL and L2CAP.
    private static let start = 1 + ACLHeader.size + L2CAPHeader.size

    /// What it is, if it is a matter of one value.
    package enum Kind: Equatable, Sendable {
        case readRequest, readResponse, writeRequest, writeResponse, writeCommand, notification
        case other

        @inline(__always)
        fileprivate init(opcode: UInt8) {
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

    package let link: ConnectionHandle
    package let kind: Kind
    private let end: Int

    /// Looks at a whole H4 packet; `nil` if it holds anything else, or that in another form.
    @inline(__always)
    package init?(_ packet: Span<UInt8>) {
        let count = packet.count
        guard count > Self.start, packet[0] == HCI.PacketType.acl.wire else { return nil }
        let field = UInt16(packet[1]) | UInt16(packet[2]) << 8
        guard field >> 12 == ACLHeader.Boundary.firstFromController.rawValue,
            let link = ConnectionHandle(wire: field & 0x0FFF),
            Int(packet[3]) | Int(packet[4]) << 8 == count - 5,
            Int(packet[5]) | Int(packet[6]) << 8 == count - Self.start,
            UInt16(packet[7]) | UInt16(packet[8]) << 8 == ChannelIdentifier.attribute.wire
        else { return nil }
        self.link = link
        kind = Kind(opcode: packet[Self.start])
        end = count
    }

    /// How many octets follow the opcode.
    package var parameterCount: Int { end - Self.start - 1 }

    /// The handle that follows the opcode in the packet that this was made of; `nil` if it is too short for one.
    @inline(__always)
    package func attribute(in packet: Span<UInt8>) -> AttributeHandle? {
        guard packet.count >= Self.start + 3 else { return nil }
        return AttributeHandle(wire: UInt16(packet[Self.start + 1]) | UInt16(packet[Self.start + 2]) << 8)
    }

    /// A copy of the octets that follow the opcode, but for so many, in the packet that this was made of.
    @inline(__always)
    package func value(in packet: Span<UInt8>, droppingFirst count: Int) -> [UInt8] {
        let start = min(Self.start + 1 + count, packet.count)
        return [UInt8](copying: packet.extracting(start..<packet.count))
    }
}
