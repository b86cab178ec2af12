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

    /// The H4 packet that carries a part of it, of which `range` says where it is in what fragments are made of.
    package func packet(
        _ range: Range<Int>,
        on channel: ChannelIdentifier,
        of link: ConnectionHandle
    ) -> [UInt8] {
        var encoder = PacketEncoder(reservingCapacity: Self.room + range.count)
        encoder.append(octet: HCI.PacketType.acl.wire)
        ACLHeader(
            handle: link,
            boundary: range.lowerBound == 0 ? .firstFromHost : .continuing,
            length: UInt16(truncatingIfNeeded: range.count)
        ).encode(into: &encoder)
        var header = PacketEncoder(reservingCapacity: L2CAPHeader.size)
        L2CAPHeader(length: UInt16(truncatingIfNeeded: length - L2CAPHeader.size), channel: channel)
            .encode(into: &header)
        let split = L2CAPHeader.size, offset = Self.room - split
        encoder.append(contentsOf: header.bytes[range.clamped(to: 0..<split)])
        let rest = range.clamped(to: split..<length)
        encoder.append(contentsOf: octets[(rest.lowerBound + offset)..<(rest.upperBound + offset)])
        return encoder.bytes
    }
}
