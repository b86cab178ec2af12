import BLEWire
import Testing

@testable import BLEController

/// The link of the samples in Core 6.0, Vol 6, Part C, 1.
@Suite("Packets of an encrypted link")
struct PacketCipherTests {
    static let session = EncryptionSession(
        longTermKey: Key128(wire: 0x4C68_3841_39F5_74D8_36BC_F34E_9DFB_01BF),
        .init(random: 0, diversifier: 0, keyDiversifier: 0xACBD_CEDF_E0F1_0213, vector: 0xBADC_AB24),
        .init(keyDiversifier: 0x0213_2435_4657_6879, vector: 0xDEAF_BABE)
    )

    /// What each end of the sample sends, in order, and what that is on the air.
    static let packets: [(role: Role, content: LL.DataHeader.Content, plain: String, sealed: String)] = [
        (.central, .control, "06", "9fcda7f448"),
        (.peripheral, .control, "06", "a34c13a415"),
        (
            .central, .start, "1700636465666768696a6b6c6d6e6f707131323334353637383930",
            "7a70d66415226df26b17839a060405596bd6564f796b5b9ce6ff32f75a6d33"
        ),
        (
            .peripheral, .start, "170037363534333231304142434445464748494a4b4c4d4e4f5051",
            "f38881e7bd94c9c369b9a66846dd4786aa8c39ce540d0dae3adcdf89b96088"
        ),
    ]

    static func octets(_ hexadecimal: String) -> [UInt8] {
        let digits = Array(hexadecimal)
        return stride(from: 0, to: digits.count, by: 2).compactMap { UInt8(String(digits[$0...($0 + 1)]), radix: 16) }
    }

    @Test("The sample's session key and initialization vector are reproduced")
    func sampleSession() {
        #expect(Self.session.key == Key128(wire: 0x99AD_1B52_26A3_7E3E_058E_3B8E_27C2_C666))
        #expect(Self.session.vector == 0xDEAF_BABE_BADC_AB24)
    }

    @Test("Each end encrypts the sample's packets to the sample's octets, and the other decrypts them in order")
    func samplePackets() {
        for role in Role.both {
            var sender = PacketCipher(Self.session, sender: role), receiver = sender
            for packet in Self.packets where packet.role == role {
                let sealed = sender.seal(Self.octets(packet.plain)[...], packet.content)
                #expect(sealed == Self.octets(packet.sealed))
                let opened = receiver.open(sealed, packet.content)
                #expect(opened == Self.octets(packet.plain))
            }
        }
    }

    @Test("A packet that is skipped, repeated, or in the wrong direction is not decrypted")
    func order() {
        var sender = PacketCipher(Self.session, sender: .central), receiver = sender
        var other = PacketCipher(Self.session, sender: .peripheral)
        let first = sender.seal([1, 2, 3], .start), second = sender.seal([1, 2, 3], .start)
        #expect(first != second)
        let early = receiver.open(second, .start), repeated = receiver.open(first, .start)
        let wayward = other.open(first, .start)
        #expect(early == nil && repeated == nil && wayward == nil)
    }
}
