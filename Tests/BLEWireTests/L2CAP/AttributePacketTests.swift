import BLEWire
import Testing

@Suite("ATT packets read in place")
struct AttributePacketTests {
    static let link = ConnectionHandle(wire: 0x0ABC) ?? .lowest

    /// A packet as a controller hands it over, laid out as it is declared.
    static func packet(
        _ pdu: [UInt8],
        _ boundary: ACLHeader.Boundary = .firstFromController,
        on channel: ChannelIdentifier = .attribute
    ) -> [UInt8] {
        var encoder = PacketEncoder()
        encoder.append(octet: HCI.PacketType.acl.wire)
        ACLHeader(handle: link, boundary: boundary, length: UInt16(pdu.count + 4)).encode(into: &encoder)
        L2CAPHeader(length: UInt16(pdu.count), channel: channel).encode(into: &encoder)
        encoder.append(contentsOf: pdu)
        return encoder.bytes
    }

    @Test("Fields read in place equal the decoded ones", arguments: [0, 1, 20, 512])
    func fields(count: Int) throws {
        let value = [UInt8](repeating: 0x5A, count: count), handle = AttributeHandle(wire: 0xBEEF)
        let octets = Self.packet(ATTPacket.notification(.init(handle: handle, value: value)).encoded)
        let found = AttributePacket(octets.span)
        let packet = try #require(found)
        #expect(packet.link == Self.link)
        #expect(packet.kind == .notification)
        #expect(packet.parameterCount == 2 + count)
        let attribute = packet.attribute(in: octets.span)
        let rest = [UInt8](copying: packet.value(in: octets.span, droppingFirst: 2))
        #expect(attribute == handle && rest == value)
        let beyond = [UInt8](copying: packet.value(in: octets.span, droppingFirst: count + 3))
        #expect(beyond.isEmpty)
    }

    @Test("Only a complete ATT packet of the right length is read in place")
    func others() {
        let whole = Self.packet([0x1B, 1, 0, 7])
        var event = whole, longer = whole, inner = whole, reserved = whole
        event[0] = HCI.PacketType.event.wire
        longer[3] += 1
        inner[5] -= 1
        (reserved[1], reserved[2]) = (0xFF, 0x2F)
        let others = [
            event, longer, inner, reserved, whole + [0], Self.packet([0x1B, 1, 0], .continuing),
            Self.packet([0x1B, 1, 0], on: .leSignaling), [],
        ]
        for octets in others {
            let found = AttributePacket(octets.span)
            #expect(found == nil)
        }
        for count in 0..<10 {
            let found = AttributePacket([UInt8](whole.prefix(count)).span)
            #expect(found == nil)
        }
        let found = AttributePacket(whole.span)
        #expect(found != nil)
    }

    @Test("A packet has a handle only if there are octets for one")
    func short() throws {
        let octets = Self.packet([0x0A, 1])
        let found = AttributePacket(octets.span)
        let packet = try #require(found)
        let attribute = packet.attribute(in: octets.span)
        let rest = [UInt8](copying: packet.value(in: octets.span, droppingFirst: 2))
        #expect(attribute == nil && rest.isEmpty)
    }

    @Test("Outgoing packets are encoded as declared, truncated to the limit", arguments: [0, 3, 20])
    func outgoing(limit: Int) {
        let value = [UInt8](0..<20), handle = AttributeHandle(wire: 0x0102)
        var packets = OutgoingPackets()
        packets.append(.writeRequest, handle, value, limit: limit, on: Self.link)
        packets.append(.readRequest, handle, on: Self.link)
        packets.append(.writeResponse, on: Self.link)
        packets.append([0x01, 0x03, 0x0C, 0x00])
        let pdus: [ATTPacket] = [
            .writeRequest(.init(handle: handle, value: [UInt8](value[..<limit]))), .readRequest(.init(handle: handle)),
            .writeResponse,
        ]
        let expected = pdus.map { Self.packet($0.encoded, .firstFromHost) } + [[0x01, 0x03, 0x0C, 0x00]]
        var seen: [[UInt8]] = []
        packets.forEach { seen.append([UInt8](copying: $0)) }
        #expect(seen == expected)
        #expect(packets.count == 4 && packets.octets == expected.flatMap(\.self))
        #expect(packets.packet(at: 0) == expected[0] && packets.packet(at: packets.octets.count) == nil)
        packets.removeAll()
        #expect(packets.isEmpty && packets.octets.isEmpty)
    }

    @Test("Outgoing packets are fragmented to any size, including their headers", arguments: 1...40)
    func fragments(size: Int) throws {
        let value = [UInt8](10..<30), handle = AttributeHandle(wire: 0x0102)
        let pdus: [ATTPacket] = [
            .notification(.init(handle: handle, value: value)), .readResponse(.init(value: value)),
            .writeResponse,
        ]
        let payloads = [
            OutgoingPayload(.handleValueNotification, handle, value), OutgoingPayload(.readResponse, nil, value),
            OutgoingPayload(.writeResponse, nil, []),
        ]
        for (pdu, payload) in zip(pdus, payloads) {
            for payload in [payload, OutgoingPayload(pdu)] {
                var packets = OutgoingPackets(), reassembler = Reassembler(), whole: [UInt8] = []
                for start in stride(from: 0, to: payload.length, by: size) {
                    let range = start..<min(start + size, payload.length)
                    packets.append(payload, range, on: .attribute, of: Self.link)
                }
                #expect(packets.count == (payload.length + size - 1) / size)
                packets.forEach { packet in
                    let header = ACLHeader(
                        handle: Self.link,
                        boundary: whole.isEmpty ? .firstFromHost : .continuing,
                        length: UInt16(packet.count - ACLHeader.h4Size)
                    )
                    var expected = PacketEncoder()
                    expected.append(octet: HCI.PacketType.acl.wire)
                    header.encode(into: &expected)
                    #expect([UInt8](copying: packet.extracting(first: ACLHeader.h4Size)) == expected.bytes)
                    whole += [UInt8](copying: packet.extracting(droppingFirst: ACLHeader.h4Size))
                }
                var frame = PacketEncoder()
                L2CAPHeader(length: UInt16(pdu.encoded.count), channel: .attribute).encode(into: &frame)
                #expect(whole == frame.bytes + pdu.encoded)
                #expect(reassembler.begin(whole.span) == .whole)
            }
        }
    }
}
