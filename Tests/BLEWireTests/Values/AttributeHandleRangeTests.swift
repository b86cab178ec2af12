import BLEWire
import Testing

@Suite("Attribute handle range")
struct AttributeHandleRangeTests {
    @Test(
        "Only ordered handles from 1 on form a range",
        arguments: [(0, 0, false), (0, 5, false), (5, 4, false), (5, 5, true), (1, 0xFFFF, true)]
            as [(UInt16, UInt16, Bool)]
    )
    func validity(start: UInt16, end: UInt16, isRange: Bool) {
        #expect((AttributeHandleRange(AttributeHandle(start), AttributeHandle(end)) != nil) == isRange)
    }

    @Test("A range contains exactly the handles from its start to its end")
    func containment() {
        let range = AttributeHandleRange(3...7)
        #expect([2, 3, 7, 8].map { range.contains(AttributeHandle($0)) } == [false, true, true, false])
        #expect(range.count == 5)
        #expect(AttributeHandleRange.all.count == 0xFFFF)
        #expect(range.contains(AttributeHandleRange(3...7)))
        #expect(!range.contains(AttributeHandleRange(3...8)))
        #expect(range.overlaps(AttributeHandleRange(7...9)))
        #expect(!range.overlaps(AttributeHandleRange(8...9)))
    }

    @Test("A search continues after the last handle found, until none is left")
    func continuation() {
        let range = AttributeHandleRange(3...7)
        #expect(range.after(AttributeHandle(5)) == AttributeHandleRange(6...7))
        #expect(range.after(AttributeHandle(1)) == range)
        #expect(range.after(AttributeHandle(7)) == nil)
        #expect(AttributeHandleRange.all.after(AttributeHandle(0xFFFF)) == nil)
        #expect(range.description == "0x0003–0x0007")
    }
}
