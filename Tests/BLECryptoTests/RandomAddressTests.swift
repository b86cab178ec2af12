import BLECrypto
import BLEWire
import Testing

/// Core 6.0, Vol 3, Part H, 2.2.2 and appendix D.7.
@Suite("Private addresses")
struct RandomAddressTests {
    static let key = Key128(wire: 0xEC02_34A3_57C8_AD05_3410_10A6_0A39_7D9B)
    static let otherKey = Key128(wire: ~key.wire)

    @Test("The specification's sample hashes to the expected value")
    func sample() {
        #expect(RandomAddress.hash(of: 0x708194, key: Self.key) == 0x0DFBAA)
        #expect(RandomAddress.isMade(DeviceAddress(0x7081_940D_FBAA, .random), with: Self.key))
    }

    @Test("Only 24 bits of the random part matter")
    func excessBits() {
        #expect(RandomAddress.hash(of: 0xFF70_8194, key: Self.key) == 0x0DFBAA)
    }

    @Test("A resolvable private address is resolved by its own IRK and by no other", arguments: UInt64(0)..<16)
    func resolvable(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let address = RandomAddress.makeResolvable(key: Self.key, using: &random)
        #expect(address.kind == .random)
        #expect(address.randomKind == .resolvable && address.isResolvable)
        #expect(!DeviceAddress(address.value, .public).isResolvable)
        let keys = [.zero, Self.otherKey, Self.key]
        #expect(keys.filter { RandomAddress.isMade(address, with: $0) } == [Self.key])
    }

    @Test("Two resolvable private addresses of one device differ")
    func change() {
        var random = SeededGenerator(seed: 7)
        let first = RandomAddress.makeResolvable(key: Self.key, using: &random)
        #expect(RandomAddress.makeResolvable(key: Self.key, using: &random) != first)
    }

    @Test("The other kinds of address have their type bits and do not resolve", arguments: UInt64(0)..<16)
    func otherKinds(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let fleeting = RandomAddress.makeNonResolvable(using: &random)
        let kept = RandomAddress.makeStatic(using: &random)
        #expect(fleeting.randomKind == .nonResolvable)
        #expect(kept.randomKind == .static)
        for address in [fleeting, kept] {
            #expect(address.kind == .random)
            #expect(!RandomAddress.isMade(address, with: Self.key))
        }
    }

    @Test("A public address with the type bits of a resolvable private address is not one")
    func publicAddress() {
        #expect(!RandomAddress.isMade(DeviceAddress(0x7081_940D_FBAA, .public), with: Self.key))
        #expect(!RandomAddress.isMade(DeviceAddress(0x7081_940D_FBAA, .randomIdentity), with: Self.key))
    }

    @Test("An address with a single wrong bit does not resolve", arguments: UInt64(0)..<48)
    func wrongBit(bit: UInt64) {
        let address = DeviceAddress(0x7081_940D_FBAA ^ 1 << bit, .random)
        #expect(!RandomAddress.isMade(address, with: Self.key))
    }
}
