import BLECrypto
import BLEWire
import Testing

/// RFC 4493, 4, and Core 6.0, Vol 3, Part H, appendix D.1.
@Suite("AES-CMAC")
struct CMACTests {
    static let key = Key128(wire: 0x2B7E_1516_28AE_D2A6_ABF7_1588_09CF_4F3C)
    static let message: [UInt8] = [
        0x6B, 0xC1, 0xBE, 0xE2, 0x2E, 0x40, 0x9F, 0x96, 0xE9, 0x3D, 0x7E, 0x11, 0x73, 0x93, 0x17, 0x2A,
        0xAE, 0x2D, 0x8A, 0x57, 0x1E, 0x03, 0xAC, 0x9C, 0x9E, 0xB7, 0x6F, 0xAC, 0x45, 0xAF, 0x8E, 0x51,
        0x30, 0xC8, 0x1C, 0x46, 0xA3, 0x5C, 0xE4, 0x11, 0xE5, 0xFB, 0xC1, 0x19, 0x1A, 0x0A, 0x52, 0xEF,
        0xF6, 0x9F, 0x24, 0x45, 0xDF, 0x4F, 0x9B, 0x17, 0xAD, 0x2B, 0x41, 0x7B, 0xE6, 0x6C, 0x37, 0x10,
    ]

    @Test(
        "A message has the MAC given in the standard",
        arguments: [
            (0, 0xBB1D_6929_E959_3728_7FA3_7D12_9B75_6746),
            (16, 0x070A_16B4_6B4D_4144_F79B_DD9D_D04A_287C),
            (40, 0xDFA6_6747_DE9A_E630_30CA_3261_1497_C827),
            (64, 0x51F0_BEBF_7E3B_9D92_FC49_7417_7936_3CFE),
        ] as [(Int, UInt128)]
    )
    func standard(length: Int, code: UInt128) {
        #expect(CMAC.code(of: Array(Self.message.prefix(length)), key: Self.key) == code)
    }

    @Test("Another key, or one more octet, gives another MAC")
    func sensitivity() {
        let code = CMAC.code(of: Self.message, key: Self.key)
        #expect(CMAC.code(of: Self.message, key: Key128(wire: Self.key.wire ^ 1)) != code)
        #expect(CMAC.code(of: Self.message + [0], key: Self.key) != code)
    }
}
