import BLECrypto
import BLEWire
import Testing

/// The samples of Core 6.0, Vol 6, Part C, 1; Python's `cryptography` comes to the same.
@Suite("AES-CCM")
struct CCMTests {
    static func octets(_ hexadecimal: String) -> [UInt8] {
        let digits = Array(hexadecimal)
        return stride(from: 0, to: digits.count, by: 2).compactMap { UInt8(String(digits[$0...($0 + 1)]), radix: 16) }
    }

    static let ccm = CCM(key: Key128(wire: 0x99AD_1B52_26A3_7E3E_058E_3B8E_27C2_C666))

    /// Messages with the first octet of their header, whose bits of acknowledgement are left out.
    static let samples: [(nonce: String, associated: UInt8, message: String, sealed: String)] = [
        ("0000000080" + "24abdcbabebaafde", 3, "06", "9fcda7f448"),
        ("0000000000" + "24abdcbabebaafde", 3, "06", "a34c13a415"),
        (
            "0100000080" + "24abdcbabebaafde", 2, "1700636465666768696a6b6c6d6e6f707131323334353637383930",
            "7a70d66415226df26b17839a060405596bd6564f796b5b9ce6ff32f75a6d33"
        ),
        (
            "0100000000" + "24abdcbabebaafde", 2, "170037363534333231304142434445464748494a4b4c4d4e4f5051",
            "f38881e7bd94c9c369b9a66846dd4786aa8c39ce540d0dae3adcdf89b96088"
        ),
    ]

    @Test("The specification's sample packets encrypt to its octets and decrypt again", arguments: samples.indices)
    func sample(index: Int) {
        let (nonce, associated, message, sealed) = Self.samples[index]
        let octets = Self.octets(message)
        let result = Self.ccm.seal(octets[...], nonce: Self.octets(nonce), associated: associated)
        #expect(result == Self.octets(sealed))
        #expect(Self.ccm.open(result, nonce: Self.octets(nonce), associated: associated) == octets)
    }

    @Test("Messages of any length decrypt, and none does after a single bit changes", arguments: UInt64(0)..<16)
    func changes(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<20 {
            let message = (0..<random.below(252)).map { _ in UInt8.random(in: 0...255, using: &random) }
            let nonce = (0..<13).map { _ in UInt8.random(in: 0...255, using: &random) }
            let sealed = Self.ccm.seal(message[...], nonce: nonce, associated: 1)
            #expect(sealed.count == message.count + CCM.codeLength)
            #expect(Self.ccm.open(sealed, nonce: nonce, associated: 1) == message)
            #expect(Self.ccm.open(sealed, nonce: nonce, associated: 2) == nil)
            var (changed, other) = (sealed, nonce)
            changed[Int(random.below(Int64(sealed.count)))] ^= 1 << UInt8(random.below(8))
            other[Int(random.below(13))] ^= 1 << UInt8(random.below(8))
            #expect(Self.ccm.open(changed, nonce: nonce, associated: 1) == nil)
            #expect(Self.ccm.open(sealed, nonce: other, associated: 1) == nil)
            #expect(Self.ccm.open(Array(sealed.dropLast()), nonce: nonce, associated: 1) == nil)
        }
    }

    @Test("A message too short to hold a MIC does not decrypt")
    func short() {
        for count in 0..<4 {
            let octets = [UInt8](repeating: 0, count: count), nonce = [UInt8](repeating: 0, count: 13)
            #expect(Self.ccm.open(octets, nonce: nonce, associated: 0) == nil)
        }
    }
}
