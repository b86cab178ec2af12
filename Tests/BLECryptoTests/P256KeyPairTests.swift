import BLECrypto
import BLEWire
import Testing

/// Core 6.0, Vol 2, Part G, 7.1.2; the curve agrees with Python's `cryptography`.
@Suite("P-256 key pairs")
struct P256KeyPairTests {
    static func octets(_ hexadecimal: String) -> [UInt8] {
        let digits = Array(hexadecimal)
        let pairs = stride(from: 0, to: digits.count, by: 2).map { String(digits[$0...($0 + 1)]) }
        return pairs.reversed().compactMap { UInt8($0, radix: 16) }
    }

    static let other = HCI.PublicKey(
        x: octets("1ea1f0f01faf1d9609592284f19e4c0047b58afd8615a69f559077b22faaa190"),
        y: octets("4c55f33e429dad377356703a9ab85160472d1130e28e36765f89aff915b1214a")
    )

    @Test("The debug private key gives the specification's sample public key and secret")
    func sample() throws {
        let pair = P256KeyPair.debug
        #expect(pair.publicKey.x == Self.octets("20b003d2f297be2c5e2c83a7e9f9a5b9eff49111acf4fddbcc0301480e359de6"))
        #expect(pair.publicKey.y == Self.octets("dc809c49652aeb6d63329abf5a52155c766345c28fed3024741c8ed01589d28b"))
        let secret = Self.octets("ec0234a357c8ad05341010a60a397d9b99796b13b4f866f1868d34f373bfa698")
        #expect(pair.secret(with: try #require(Self.other)) == secret)
    }

    @Test("A valid private key gives its key pair, and an invalid one gives none")
    func known() {
        let octets = Self.octets("3f49f6d4a3c55f3874c9b3e3d2103f504aff607beb40b7995899b8a6cd3c1abd")
        #expect(P256KeyPair(privateKey: octets)?.publicKey == P256KeyPair.debug.publicKey)
        for none in [[], [1], [UInt8](repeating: 0, count: 32), [UInt8](repeating: 0xFF, count: 32)] {
            #expect(P256KeyPair(privateKey: none) == nil)
        }
    }

    @Test("Both key pairs compute the same secret, and a third pair a different one", arguments: UInt64(0)..<16)
    func agreement(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let (a, b, c) = (P256KeyPair(using: &random), P256KeyPair(using: &random), P256KeyPair(using: &random))
        let secret = a.secret(with: b.publicKey)
        #expect(secret != nil && secret == b.secret(with: a.publicKey) && secret != c.secret(with: a.publicKey))
        var again = SeededGenerator(seed: seed)
        #expect(P256KeyPair(using: &again).publicKey == a.publicKey)
    }

    @Test("A point off the curve gives no secret")
    func offCurve() throws {
        let own = P256KeyPair.debug, other = try #require(Self.other)
        let zero = [UInt8](repeating: 0, count: 32), all = [UInt8](repeating: 0xFF, count: 32)
        for (x, y) in [(zero, zero), (all, all), (other.x, own.publicKey.y), (other.x, zero), (zero, other.y)] {
            #expect(own.secret(with: try #require(HCI.PublicKey(x: x, y: y))) == nil)
        }
    }
}
