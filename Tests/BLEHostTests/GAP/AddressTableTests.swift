import BLEWire
import Testing

@testable import BLEHost

@Suite("Address table")
struct AddressTableTests {
    /// Addresses as one maker gives them, and as random ones are.
    static let addresses: [[DeviceAddress]] = [
        (0..<4_096).map { DeviceAddress(0xC0FF_EE00_0000 + UInt64($0), .public) },
        (0..<4_096).map { DeviceAddress(UInt64($0) << 32 | 0x1234, .public) },
        {
            var random = SeededGenerator(seed: 1)
            return (0..<4_096).map { _ in DeviceAddress(random.next(), .random) }
        }(),
    ]

    @Test("What was put in last is found as long as the table may grow", arguments: addresses.indices)
    func finding(kind: Int) {
        let addresses = Self.addresses[kind]
        var table = AddressTable<Int>(capacity: 1 << 16)
        for (index, address) in addresses.enumerated() { table[address] = index }
        #expect(addresses.map { table[$0] } == Array(addresses.indices))
        for (index, address) in addresses.enumerated() { table[address] = -index }
        #expect(addresses.map { table[$0] } == addresses.indices.map { -$0 })
    }

    @Test("An address is another one if its kind is another")
    func kinds() {
        var table = AddressTable<String>(capacity: 16)
        table[DeviceAddress(0, .public)] = "public"
        table[DeviceAddress(0, .random)] = "random"
        #expect(table[DeviceAddress(0, .public)] == "public")
        #expect(table[DeviceAddress(0, .random)] == "random")
        #expect(table[DeviceAddress(0, .publicIdentity)] == nil)
        table[DeviceAddress(0, .public)] = nil
        #expect(table[DeviceAddress(0, .public)] == nil)
        #expect(table[DeviceAddress(0, .random)] == "random")
        table.removeAll()
        #expect(table[DeviceAddress(0, .random)] == nil)
    }

    @Test("The table grows with what is in it, up to its capacity", arguments: addresses.indices)
    func growing(kind: Int) {
        let addresses = Self.addresses[kind]
        var table = AddressTable<Int>(capacity: 1_024)
        #expect(table.size == 8)
        for (index, address) in addresses.prefix(16).enumerated() { table[address] = index }
        #expect(table.size <= 128)
        for (index, address) in addresses.enumerated() {
            table[address] = index
            if table[address] != index { Issue.record("\(address) is not there") }
        }
        #expect(table.size == 1_024)
        let kept = addresses.enumerated().filter { table[$0.element] == $0.offset }.count
        #expect((700...1_024).contains(kept))
        let found = addresses.map { table[$0] }
        #expect(found.enumerated().allSatisfy { $0.element == nil || $0.element == $0.offset })
    }
}
