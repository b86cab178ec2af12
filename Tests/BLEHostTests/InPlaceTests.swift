import Testing

@testable import BLEHost

@Suite("A value in place")
struct InPlaceTests {
    @Test("A slot holds one value, which is changed in place, and is empty once the value is taken")
    func holdsOne() {
        var slot = InPlace<[Int]>()
        #expect(slot.value == nil && slot.take() == nil)
        slot.put([1])
        #expect(slot.update { $0.append(2) } != nil)
        #expect(slot.value == [1, 2])
        #expect(slot.take() == [1, 2])
        #expect(slot.value == nil)
    }

    @Test("Updating an empty slot has no effect")
    func changesNothing() {
        var slot = InPlace<Int>()
        #expect(slot.update { $0 += 1 } == nil)
        slot.put(1)
        _ = slot.take()
        #expect(slot.update { $0 += 1 } == nil && slot.value == nil)
    }

    @Test("A slot has value semantics: changing a copy leaves the original unchanged")
    func isAValue() {
        var slot = InPlace<Int>()
        slot.put(1)
        var copy = slot
        copy.update { $0 = 2 }
        #expect(slot.value == 1 && copy.value == 2)
    }
}
