import BLEWire
import Testing

@testable import BLESimulation

@Suite("Deadline tree")
struct DeadlineTreeTests {
    @Test("The tree behaves like a list of the same deadlines", arguments: [1, 2, 3, 8, 100])
    func sameAsList(count: Int) {
        var tree = DeadlineTree(), list = [Instant?](repeating: nil, count: count)
        var random = SeededGenerator(seed: UInt64(count))
        #expect(tree.first == nil)
        for _ in 0..<500 {
            let index = Int(random.next() % UInt64(count)), number = random.next() % 50
            let deadline = number < 10 ? nil : Instant(nanoseconds: Int64(number))
            tree[index] = deadline
            list[index] = deadline
            #expect(tree.first == list.compactMap { $0 }.min())
            let now = Instant(nanoseconds: Int64(random.next() % 60)), start = Int(random.next() % UInt64(count + 1))
            let due = list.indices.dropFirst(start).first { list[$0].map { $0 <= now } ?? false }
            #expect(tree.next(from: start, by: now) == due)
            #expect(tree[index] == deadline)
        }
    }

    @Test("An entry that was never set has no deadline and is not due")
    func unknown() {
        var tree = DeadlineTree()
        tree[5] = Instant(nanoseconds: 7)
        #expect(tree[1_000] == nil)
        #expect(tree[4] == nil)
        #expect(tree.next(from: 6, by: Instant(nanoseconds: 100)) == nil)
        #expect(tree.next(from: 1_000, by: Instant(nanoseconds: 100)) == nil)
        #expect(tree.next(from: 0, by: Instant(nanoseconds: 6)) == nil)
        #expect(tree.next(from: 0, by: Instant(nanoseconds: 7)) == 5)
    }
}
