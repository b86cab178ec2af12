import BLEHost
import BLEWire
import Testing

@testable import CoreBluetooth

@Suite("Bounded storage of managers")
struct SupportTests {
    final class Thing {}

    @Test("A weak table holds retained objects in order, and uses no space for others")
    func weakTable() {
        var table = WeakTable<Int, Thing>(), kept: [Thing] = []
        for number in (0..<10_000).reversed() {
            let thing = Thing()
            table[number] = thing
            if number.isMultiple(of: 1000) { kept.append(thing) }
        }
        #expect(table.objects.map(ObjectIdentifier.init) == kept.map { ObjectIdentifier($0) })
        #expect(table[3000] === kept[6])
        #expect(table[3001] == nil)
        #expect(table.entryCount <= 64)
        table.removeAll()
        #expect(table[3000] == nil)
    }

    @Test("When there are too many peers, the latest are kept, each with its last name")
    func seenPeers() {
        var seen = SeenPeers()
        for number in 0..<(SeenPeers.limit + 2) {
            seen.insert(PeerIdentifier(rawValue: UInt128(number)), name: number.isMultiple(of: 2) ? "\(number)" : nil)
        }
        #expect(!seen.contains(PeerIdentifier(rawValue: 1)))
        #expect(seen.name(of: PeerIdentifier(rawValue: 2)) == "2")
        #expect(seen.contains(PeerIdentifier(rawValue: 3)))
        #expect(seen.name(of: PeerIdentifier(rawValue: 3)) == nil)
        seen.insert(PeerIdentifier(rawValue: 2), name: nil)
        #expect(seen.name(of: PeerIdentifier(rawValue: 2)) == "2")
        seen.insert(PeerIdentifier(rawValue: 2), name: "two")
        #expect(seen.name(of: PeerIdentifier(rawValue: 2)) == "two")
    }

    @Test("An identifier has the same bits for the app and the host")
    func identifiers() throws {
        let uuid = try #require(UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF"))
        #expect(PeerIdentifier(uuid).rawValue == 0x0011_2233_4455_6677_8899_AABB_CCDD_EEFF)
        #expect(UUID(PeerIdentifier(uuid)) == uuid)
    }

    @Test("A handle table finds the latest entries in order of handle, and can remove a range")
    func handleTable() {
        var table = HandleTable<String>()
        for handle: UInt16 in [9, 3, 0xFFFF, 1, 7, 3] { table[AttributeHandle(wire: handle)] = "\(handle)" }
        table[AttributeHandle(wire: 7)] = "seven"
        #expect(table.objects == ["1", "3", "seven", "9", "65535"])
        #expect(table[AttributeHandle(wire: 3)] == "3")
        #expect(table[AttributeHandle(wire: 2)] == nil)
        table[AttributeHandle(wire: 1)] = nil
        #expect(table.remove(in: .of(4...8)) == ["seven"])
        #expect(table.remove(in: .of(10...0xFFFE)) == [])
        #expect(table.objects == ["3", "9", "65535"])
        #expect(table.remove(in: .all) == ["3", "9", "65535"])
        #expect(table[AttributeHandle(wire: 9)] == nil)
    }
}
