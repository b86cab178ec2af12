import Testing

@testable import BLEHost

@Suite("A value in place")
struct InPlaceTests {
    @Test("holds one value, which is changed where it lies, and is empty once that was taken")
    func holdsOne() {
        var slot = InPlace<[Int]>()
        #expect(slot.value == nil && slot.take() == nil)
        slot.put([1])
        #expect(slot.update { $0.append(2) } != nil)
        #expect(slot.value == [1, 2])
        #expect(slot.take() == [1, 2])
        #expect(slot.value == nil)
    }

    @Test("has nothing to change while it is empty")
    func changesNothing() {
        var slot = InPlace<Int>()
        #expect(slot.update { $0 += 1 } == nil)
        slot.put(1)
        _ = slot.take()
        #expect(slot.update { $0 += 1 } == nil && slot.value == nil)
    }

    @Test("is a value: what becomes of a copy is not seen in it")
    func isAValue() {
        var slot = InPlace<Int>()
        slot.put(1)
        var copy = slot
        copy.update { $0 = 2 }
        #expect(slot.value == 1 && copy.value == 2)
    }
}
