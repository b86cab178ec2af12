import BLEWire
import Testing

@testable import BLEHost

@Suite("Hash index")
struct HashIndexTests {
    /// Addresses as one maker gives them, and as random ones are.
    static let addresses: [[DeviceAddress]] = [
        (0..<4_096).map { DeviceAddress(0xC0FF_EE00_0000 + UInt64($0), .public) },
        (0..<4_096).map { DeviceAddress(UInt64($0) << 32 | 0x1234, .public) },
        {
            var random = SeededGenerator(seed: 1)
            return (0..<4_096).map { _ in DeviceAddress(random.next(), .random) }
        }(),
    ]

    @Test(
        "The last inserted index is found for each address",
        arguments: addresses.indices,
        [0, 1, 0xDEAD_BEEF_CAFE_F00D] as [UInt64]
    )
    func finding(kind: Int, secret: UInt64) {
        let addresses = Self.addresses[kind]
        var table = HashIndex(secret: secret)
        for (index, address) in addresses.enumerated() { table.insert(address, at: index) }
        #expect(addresses.map { table.index(of: $0) } == Array(addresses.indices))
        for (index, address) in addresses.enumerated() { table.insert(address, at: index + 1) }
        #expect(addresses.map { table.index(of: $0) } == addresses.indices.map { $0 + 1 })
        #expect(table.count == addresses.count)
    }

    @Test("Addresses of different kinds are different keys")
    func kinds() {
        var table = HashIndex(secret: 1)
        table.insert(DeviceAddress(0, .public), at: 3)
        table.insert(DeviceAddress(0, .random), at: 4)
        #expect(table.index(of: DeviceAddress(0, .public)) == 3)
        #expect(table.index(of: DeviceAddress(0, .random)) == 4)
        #expect(table.index(of: DeviceAddress(0, .publicIdentity)) == nil)
        table.remove(DeviceAddress(0, .public))
        #expect(table.index(of: DeviceAddress(0, .public)) == nil)
        #expect(table.index(of: DeviceAddress(0, .random)) == 4)
    }

    @Test("The index grows with its count, and keeps its size while addresses come and go")
    func growing() {
        let addresses = Self.addresses[2]
        var table = HashIndex(secret: 7)
        #expect(table.size == 16)
        for (index, address) in addresses.enumerated() {
            table.insert(address, at: index)
            if index >= 512 { table.remove(addresses[index - 512]) }
        }
        #expect(table.count == 512)
        #expect(table.size == 2_048)
    }

    @Test("The index behaves like a dictionary under random insertions and removals", arguments: UInt64(0)..<16)
    func dictionary(seed: UInt64) {
        var random = SeededGenerator(seed: seed), table = HashIndex(secret: seed)
        var dictionary: [DeviceAddress: Int] = [:]
        let addresses = Self.addresses[Int(seed % 3)].prefix(200)
        for step in 0..<4_000 {
            guard let address = addresses.randomElement(using: &random) else { return }
            if Int.random(in: 0..<5, using: &random) < 3 {
                table.insert(address, at: step)
                dictionary[address] = step
            } else {
                table.remove(address)
                dictionary[address] = nil
            }
            guard step % 100 == 0 else { continue }
            #expect(addresses.allSatisfy { table.index(of: $0) == dictionary[$0] })
            #expect(table.count == dictionary.count)
        }
    }
}
