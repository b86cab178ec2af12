import BLEWire
import Testing

@Suite("Reports of room on one link alone")
struct LoneCreditTests {
    @Test("Are laid out as the event is, and read where they lie", arguments: [1, 0x0102, .max] as [UInt16])
    func packet(count: UInt16) throws {
        let handle = ConnectionHandle(wire: 0x0ABC)
        let entry = HCI.CompletedPackets(handle: try #require(handle), count: count)
        let octets = HCI.NumberOfCompletedPackets.packet(entry)
        #expect(octets == HCIEventPacket.numberOfCompletedPackets(.init(completed: [entry])).encoded)
        let found = HCI.NumberOfCompletedPackets.onlyOne(in: octets.span)
        #expect(found == entry)
    }
}
