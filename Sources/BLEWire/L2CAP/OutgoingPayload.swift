/// The payload of an L2CAP packet that is to be sent, with room before it for all headers.
///
/// It is written once: what fits one buffer of the controller leaves in the storage that it was written to.
///
/// Core 6.0, Vol 3, Part A, 7.2.1.
package struct OutgoingPayload: Equatable, Sendable {
    /// How many octets the packet type, the ACL header and the L2CAP header take.
    private static let room = 1 + ACLHeader.size + L2CAPHeader.size

    /// The room, and then the payload.
    private var octets: [UInt8]

    package init(_ payload: [UInt8]) {
        var encoder = PacketEncoder(room: Self.room, reservingCapacity: payload.count)
        encoder.append(contentsOf: payload)
        octets = encoder.bytes
    }

    package init(_ packet: ATTPacket) {
        var encoder = PacketEncoder(room: Self.room)
        packet.encode(into: &encoder)
        octets = encoder.bytes
    }

    /// The octets without any header.
    package var payload: [UInt8] { [UInt8](octets[Self.room...]) }
    /// How many octets there are with the L2CAP header, which is what fragments are made of.
    package var length: Int { octets.count - Self.room + L2CAPHeader.size }

    /// The H4 packet that carries all of it.
    package consuming func packet(on channel: ChannelIdentifier, of link: ConnectionHandle) -> [UInt8] {
        var empty: [UInt8] = []
        swap(&empty, &octets)
        var writer = PacketOverwriter(consume empty)
        writer.write(octet: HCI.PacketType.acl.wire)
        let length = writer.bytes.count - Self.room
        writer.write(ACLHeader(handle: link, boundary: .firstFromHost, length: UInt16(length + L2CAPHeader.size)))
        writer.write(L2CAPHeader(length: UInt16(length), channel: channel))
        return writer.bytes
    }

    /// Writes the L2CAP header, with which the packet may be cut into fragments.
    package mutating func address(to channel: ChannelIdentifier) {
        let length = octets.count - Self.room
        var header = octets.mutableSpan
        header[5] = UInt8(truncatingIfNeeded: length)
        header[6] = UInt8(truncatingIfNeeded: length >> 8)
        header[7] = UInt8(truncatingIfNeeded: channel.wire)
        header[8] = UInt8(truncatingIfNeeded: channel.wire >> 8)
    }

    /// The octets of a fragment, of which `range` says where they are, the L2CAP header first; it has been written.
    @_lifetime(borrow self)
    package func fragment(_ range: Range<Int>) -> Span<UInt8> {
        let start = Self.room - L2CAPHeader.size
        return octets.span.extracting((start + range.lowerBound)..<(start + range.upperBound))
    }
}
