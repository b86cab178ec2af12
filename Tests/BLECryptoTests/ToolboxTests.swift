import BLECrypto
import BLEWire
import Testing

/// Core 6.0, Vol 3, Part H, 2.2.3, 2.2.4 and appendix D.
@Suite("Pairing functions")
struct ToolboxTests {
    static let ownX = P256KeyPairTests.octets("20b003d2f297be2c5e2c83a7e9f9a5b9eff49111acf4fddbcc0301480e359de6")
    static let peerX = P256KeyPairTests.octets("55188b3d32f6bb9a900afcfbeed4e72a59cb9ac2f19d7cfb6b4fdd49f47fc5fd")
    static let secret = P256KeyPairTests.octets("ec0234a357c8ad05341010a60a397d9b99796b13b4f866f1868d34f373bfa698")
    static let first = Key128(wire: 0xD5CB_8454_D177_733E_FFFF_B2EC_712B_AEAB)
    static let second = Key128(wire: 0xA6E8_E7CC_25A7_5F6E_2165_83F7_FF3D_C4CF)
    static let initiator = (random: first, address: DeviceAddress(0x5612_3737_BFCE, .public))
    static let responder = (random: second, address: DeviceAddress(0xA713_702D_CFC1, .public))
    static let checkKey = Key128(wire: 0x2965_F176_A108_4A02_FD3F_6A20_CE63_6E20)
    static let key = Key128(wire: 0xEC02_34A3_57C8_AD05_3410_10A6_0A39_7D9B)

    @Test("The confirm value of legacy pairing matches the sample")
    func c1() {
        let confirm = Toolbox.c1(
            .zero,
            random: Key128(wire: 0x5783_D521_56AD_6F0E_6388_274E_C670_2EE0),
            request: [0x01, 0x01, 0x00, 0x00, 0x10, 0x07, 0x07],
            response: [0x02, 0x03, 0x00, 0x00, 0x08, 0x00, 0x05],
            initiator: DeviceAddress(0xA1A2_A3A4_A5A6, .random),
            responder: DeviceAddress(0xB1B2_B3B4_B5B6, .public)
        )
        #expect(confirm.wire == 0x1E1E_3FEF_8789_88EA_D2A7_4DC5_BEF1_3B86)
    }

    @Test("The short-term key of legacy pairing matches the sample")
    func s1() {
        let first = Key128(wire: 0x000F_0E0D_0C0B_0A09_1122_3344_5566_7788)
        let second = Key128(wire: 0x0102_0304_0506_0708_99AA_BBCC_DDEE_FF00)
        #expect(Toolbox.s1(.zero, first, second).wire == 0x9A1F_E1F0_E8B0_F49B_5B42_16AE_796D_A062)
    }

    @Test("The confirm value of LE Secure Connections matches the sample")
    func f4() {
        let confirm = Toolbox.f4(Self.ownX, Self.peerX, Self.first, 0)
        #expect(confirm.wire == 0xF2C9_16F1_07A9_BD1C_F1ED_A1BE_A974_872D)
    }

    @Test("The keys derived from a shared secret match the sample")
    func f5() {
        let keys = Toolbox.f5(Self.secret, Self.initiator, Self.responder)
        #expect(keys.check == Self.checkKey)
        #expect(keys.link.wire == 0x6986_7911_69D7_CD23_9805_22B5_9475_0A38)
    }

    @Test("The DHKey check matches the sample")
    func f6() {
        let check = Toolbox.f6(
            Self.checkKey,
            Self.initiator,
            Self.responder,
            r: Key128(wire: 0x12A3_343B_B453_BB54_08DA_42D2_0C2D_0FC8),
            capabilities: [0x02, 0x01, 0x01]
        )
        #expect(check.wire == 0xE3C4_7398_9CD0_E8C5_D26C_0B09_DA95_8F61)
    }

    @Test("The compared number is the sample's last six digits")
    func g2() {
        #expect(Toolbox.g2(Self.ownX, Self.peerX, Self.first, Self.second) == 0x2F9E_D5BA % 1_000_000)
    }

    @Test("Keys for other purposes match the samples")
    func h() {
        #expect(Toolbox.h6(Self.key, identifier: 0x6C65_6272).wire == 0x2D9A_E102_E76D_C91C_E8D3_A9E2_80B1_6399)
        let salt = Key128(wire: 0x746D_7031)
        #expect(Toolbox.h7(salt: salt, Self.key).wire == 0xFB17_3597_C6A3_C0EC_D299_8C2A_75A5_7011)
    }

    @Test("The kind of address matters, but not whether the controller resolved it")
    func kinds() {
        let random = (random: Self.first, address: DeviceAddress(0x5612_3737_BFCE, .random))
        let resolved = (random: Self.first, address: DeviceAddress(0x5612_3737_BFCE, .publicIdentity))
        let keys = [Self.initiator, random, resolved].map { Toolbox.f5(Self.secret, $0, Self.responder).link }
        #expect(keys[0] != keys[1] && keys[0] == keys[2])
    }
}
