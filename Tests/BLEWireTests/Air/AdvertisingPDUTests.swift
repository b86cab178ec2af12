import BLEWire
import Testing

/// Core 6.0, Vol 6, Part B, 2.3.
@Suite("Advertising channel PDUs")
struct AdvertisingPDUTests {
    static let random = DeviceAddress(0xF0F1_F2F3_F4F5, .random)
    static let fixed = DeviceAddress(0x0011_2233_4455, .public)

    /// PDUs with the octets that the layout of the specification gives them.
    static let vectors: [(pdu: AdvertisingPDU, octets: String)] = [
        (.connectable(.init(advertiser: random, data: [2, 1, 6]), channelSelection: true), "6009f5f4f3f2f1f0020106"),
        (.nonConnectable(.init(advertiser: fixed, data: [])), "0206554433221100"),
        (.scannable(.init(advertiser: random, data: [])), "4606f5f4f3f2f1f0"),
        (.scanResponse(.init(advertiser: fixed, data: [1, 8])), "04085544332211000108"),
        (
            .directed(.init(advertiser: fixed, target: random), channelSelection: false),
            "810c554433221100f5f4f3f2f1f0"
        ),
        (.scanRequest(.init(scanner: random, advertiser: fixed)), "430cf5f4f3f2f1f0554433221100"),
        (.connect(indication, channelSelection: true), "a522" + connectPayload),
        (.extended(pointer), "070706181100051a21"),
        (.extended(auxiliary), "470f0909f5f4f3f2f1f01100aabbccddee"),
    ]

    static let connectPayload =
        "554433221100" + "f5f4f3f2f1f0" + "d4c3b2a1" + "030201" + "01" + "0200" + "1800" + "0000" + "6400"
        + "ffffffff1f" + "a7"

    static var indication: LL.ConnectIndication {
        var packet = LL.ConnectIndication()
        (packet.initiator, packet.advertiser) = (fixed, random)
        (packet.accessAddress, packet.crcInit) = (0xA1B2_C3D4, 0x010203)
        (packet.windowSize, packet.windowOffset) = (1, 2)
        (packet.interval, packet.latency, packet.timeout) = (24, 0, 100)
        (packet.channelMap, packet.hopAndClockAccuracy) = (0x1F_FFFF_FFFF, 0xA7)
        return packet
    }

    /// Set 0, data 0x11; channel 5 at 26 × 30 µs on 2M.
    static var pointer: LL.ExtendedAdvertisement {
        var packet = LL.ExtendedAdvertisement()
        packet.dataInfo = .init(set: 0, data: 0x11)
        packet.auxiliary = .init(channel: 5, offset: 0x11A * 30, phy: 1)
        return packet
    }

    static var auxiliary: LL.ExtendedAdvertisement {
        var packet = LL.ExtendedAdvertisement()
        packet.advertiser = random
        packet.dataInfo = .init(set: 0, data: 0x11)
        packet.data = [0xAA, 0xBB, 0xCC, 0xDD, 0xEE]
        return packet
    }

    @Test("PDUs encode to the octets in the specification and decode from them", arguments: vectors.indices)
    func octets(index: Int) throws {
        let (pdu, octets) = Self.vectors[index]
        #expect(pdu.encoded.hexadecimal == octets)
        #expect(try AdvertisingPDU(decoding: pdu.encoded) == pdu)
    }

    @Test("A PDU that is too short or too long is refused", arguments: vectors.indices)
    func lengths(index: Int) {
        let octets = Self.vectors[index].pdu.encoded
        for count in 0..<octets.count {
            #expect(throws: PacketError.self) { try AdvertisingPDU(decoding: Array(octets[..<count])) }
        }
        #expect(throws: PacketError.trailing(count: 1)) { try AdvertisingPDU(decoding: octets + [0]) }
    }

    @Test("Random octets never crash the decoder", arguments: UInt64(0)..<16)
    func garbage(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<500 {
            let payload = [UInt8].random(upTo: 60, using: &random)
            let octets = [UInt8(truncatingIfNeeded: random.next()), UInt8(payload.count)] + payload
            guard let pdu = try? AdvertisingPDU(decoding: octets) else { continue }
            #expect(try AdvertisingPDU(decoding: pdu.encoded) == pdu)
        }
    }

    @Test(
        "An auxiliary pointer holds a channel, an offset and a PHY in 24 bits",
        arguments: [0, 30, 240_000, 245_760, 2_457_300]
    )
    func pointers(offset: Int) {
        let pointer = LL.ExtendedAdvertisement.AuxiliaryPointer(channel: 36, offset: offset, phy: 2)
        #expect(pointer.channel == 36)
        #expect(pointer.phy == 2)
        #expect(pointer.offset <= offset && offset - pointer.offset < 300)
    }
}
