import BLEWire
import Testing

@Suite("Number of Completed Packets for a single link")
struct LoneCreditTests {
    @Test(
        "The event of a single link encodes like the general one, and is read in place",
        arguments: [1, 0x0102, .max] as [UInt16]
    )
    func packet(count: UInt16) throws {
        let handle = ConnectionHandle(wire: 0x0ABC)
        let entry = HCI.CompletedPackets(handle: try #require(handle), count: count)
        let octets = HCI.NumberOfCompletedPackets.packet(entry)
        #expect(octets == HCIEventPacket.numberOfCompletedPackets(.init(completed: [entry])).encoded)
        let found = HCI.NumberOfCompletedPackets.onlyOne(in: octets.span)
        #expect(found == entry)
    }
}
