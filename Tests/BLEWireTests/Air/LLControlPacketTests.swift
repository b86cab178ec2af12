import BLEWire
import Testing

/// Core 6.0, Vol 6, Part B, 2.4.2.
@Suite("LL control PDUs")
struct LLControlPacketTests {
    /// PDUs with the octets that the layout of the specification gives them.
    static let vectors: [(packet: LLControlPacket, octets: String)] = [
        (.connectionUpdate(update), "00" + "01" + "0000" + "1800" + "0400" + "c800" + "3412"),
        (.channelMap(.init(channelMap: 0x1F_0000_00FF, instant: 7)), "01" + "ff0000001f" + "0700"),
        (.terminate(reason: 0x13), "0213"),
        // Core 6.0, Vol 6, Part C, 1: the packets with which the link of the sample is encrypted.
        (
            .encryptionRequest(
                .init(
                    random: 0xABCD_EF12_3456_7890,
                    diversifier: 0x2474,
                    keyDiversifier: 0xACBD_CEDF_E0F1_0213,
                    vector: 0xBADC_AB24
                )
            ),
            "03" + "9078563412efcdab" + "7424" + "1302f1e0dfcebdac" + "24abdcba"
        ),
        (
            .encryptionResponse(.init(keyDiversifier: 0x0213_2435_4657_6879, vector: 0xDEAF_BABE)),
            "04" + "7968574635241302" + "bebaafde"
        ),
        (.startEncryptionRequest, "05"), (.startEncryptionResponse, "06"),
        (.pauseEncryptionRequest, "0a"), (.pauseEncryptionResponse, "0b"),
        (.unknownResponse(.phyRequest), "0716"),
        (.featureRequest(0x59BF), "08bf59000000000000"),
        (.featureResponse(1), "090100000000000000"),
        (.version(.init(version: 12, company: 0x0059, subversion: 0x1122)), "0c0c59002211"),
        (.reject(reason: 0x1A), "0d1a"),
        (.peripheralFeatureRequest(2), "0e0200000000000000"),
        (
            .parameterRequest(.init(intervalMinimum: 6, intervalMaximum: 24, latency: 1, timeout: 100)),
            "0f06001800010064000000" + "00" + "ffffffffffffffffffffffff"
        ),
        (.rejectExtended(.init(opcode: .parameterRequest, reason: 0x23)), "110f23"),
        (.pingRequest, "12"), (.pingResponse, "13"),
        (.lengthRequest(.init()), "141b0048011b004801"),
        (.phyRequest(.init(transmit: 3, receive: 2)), "160302"),
        (.phyUpdate(.init()), "1800000000"),
        (.other(.init(wire: 0x30), [1, 2]), "300102"),
    ]

    static var update: LL.ConnectionUpdate {
        var packet = LL.ConnectionUpdate()
        packet.windowSize = 1
        (packet.interval, packet.latency, packet.timeout, packet.instant) = (24, 4, 200, 0x1234)
        return packet
    }

    @Test("PDUs encode to the octets in the specification and decode from them", arguments: vectors.indices)
    func octets(index: Int) throws {
        let (packet, octets) = Self.vectors[index]
        #expect(packet.encoded.hexadecimal == octets)
        #expect(packet.length == packet.encoded.count)
        #expect(try LLControlPacket(decoding: packet.encoded) == packet)
    }

    @Test("Random octets never crash the decoder", arguments: UInt64(0)..<16)
    func garbage(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<1_000 {
            let octets = [UInt8(random.below(0x20))] + [UInt8].random(upTo: 26, using: &random)
            guard let packet = try? LLControlPacket(decoding: octets) else { continue }
            #expect(packet.encoded == octets)
        }
    }
}
