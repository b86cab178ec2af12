import BLECrypto
import BLEWire
import Testing

@Suite("Peer identity")
struct PeerUUIDTests {
    static let secret: UInt128 = 0x2B7E_1516_28AE_D2A6_ABF7_1588_09CF_4F3C
    static let address = DeviceAddress(0x1122_3344_5566, .public)

    @Test("An identifier is the CMAC of address kind and address, except for its version and variant bits")
    func derivation() {
        let code = CMAC.code(of: [0, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66], key: Key128(wire: Self.secret))
        let identifier = PeerUUID.identifier(of: Self.address, secret: Self.secret)
        #expect((identifier ^ code) & 0xFFFF_FFFF_FFFF_0FFF_3FFF_FFFF_FFFF_FFFF == 0)
    }

    @Test("Every identifier is a version 8 UUID", arguments: UInt64(0)..<16)
    func version(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let address = RandomAddress.makeStatic(using: &random)
        let identifier = PeerUUID.identifier(of: address, secret: Self.secret)
        #expect(identifier >> 76 & 0xF == 8)
        #expect(identifier >> 62 & 0x3 == 2)
    }

    @Test("An identity address resolved by the controller gives the same identifier as the address itself")
    func resolved() {
        let value: UInt64 = 0xC011_2233_4455
        #expect(identifier(value, .publicIdentity) == identifier(value, .public))
        #expect(identifier(value, .randomIdentity) == identifier(value, .random))
    }

    @Test("Another host, another address and another kind of address each give a different identifier")
    func difference() {
        let one = PeerUUID.identifier(of: Self.address, secret: Self.secret)
        #expect(PeerUUID.identifier(of: Self.address, secret: Self.secret + 1) != one)
        #expect(identifier(Self.address.value ^ 1, .public) != one)
        #expect(identifier(Self.address.value, .random) != one)
    }

    private func identifier(_ value: UInt64, _ kind: DeviceAddress.Kind) -> UInt128 {
        PeerUUID.identifier(of: DeviceAddress(value, kind), secret: Self.secret)
    }
}
