import BLEHost
import BLEWire
import Testing

@Suite("A set of handles")
struct HandleSetTests {
    /// A range at the beginning or at the end of all handles, where its neighbours may not exist.
    private func range(_ random: inout SeededGenerator) -> AttributeHandleRange {
        let start = 1 + random.below(40), end = min(40, start + random.below(9))
        let base: Int64 = random.below(2) == 0 ? 0 : 0xFFFF - 40
        return BLEHostTests.range(UInt16(base + start), UInt16(base + end))
    }

    @Test("Holds what was inserted and not removed, in the fewest ranges", arguments: 0..<16 as Range<UInt64>)
    func model(seed: UInt64) {
        var random = SeededGenerator(seed: seed), set = HandleSet(), model: Set<UInt16> = []
        for _ in 0..<500 {
            let change = range(&random), handles = change.start.wire...change.end.wire
            if random.below(2) == 0 {
                set.insert(change)
                model.formUnion(handles)
            } else {
                set.remove(change)
                model.subtract(handles)
            }
            #expect(set.ranges.flatMap { Array($0.start.wire...$0.end.wire) } == model.sorted())
            #expect(zip(set.ranges, set.ranges.dropFirst()).allSatisfy { $0.end.wire + 1 < $1.start.wire })
            let place = range(&random), asked = place.start.wire...place.end.wire
            #expect(set.first(in: place)?.wire == asked.first { model.contains($0) })
            #expect(set.first(missingIn: place)?.wire == asked.first { !model.contains($0) })
            #expect(set.contains(place.end) == model.contains(place.end.wire))
            #expect(set.isEmpty == model.isEmpty)
        }
    }
}
