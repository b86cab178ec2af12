import BLECrypto
import BLEWire
import Testing

@Suite("AES-128 block")
struct AESBlockTests {
    @Test("The FIPS 197, C.1 example encrypts to the expected block")
    func standard() {
        let block: UInt128 = 0x0011_2233_4455_6677_8899_AABB_CCDD_EEFF
        let key = Key128(wire: 0x0001_0203_0405_0607_0809_0A0B_0C0D_0E0F)
        #expect(AESBlock.encrypt(block, key: key) == 0x69C4_E0D8_6A7B_0430_D8CD_B780_70B4_C55A)
    }

    @Test("The link layer sample's session key follows from its long-term key and diversifier")
    func sessionKey() {
        let longTermKey = Key128(wire: 0x4C68_3841_39F5_74D8_36BC_F34E_9DFB_01BF)
        let diversifier: UInt128 = 0x0213_2435_4657_6879_ACBD_CEDF_E0F1_0213
        #expect(AESBlock.encrypt(diversifier, key: longTermKey) == 0x99AD_1B52_26A3_7E3E_058E_3B8E_27C2_C666)
    }
}
