import Testing

@testable import BLEHost

@Suite("Output queue")
struct OutputQueueTests {
    @Test("All bytes come out once and in order, whenever they are taken", arguments: 0...4)
    func order(alone: Int) {
        var queue = OutputQueue<Int>(), taken: [Int] = []
        for number in 0..<4 { queue.append(number) }
        for _ in 0..<alone { taken += [queue.next()].compactMap(\.self) }
        queue.append(4)
        while let next = queue.next() { taken.append(next) }
        #expect(taken == [0, 1, 2, 3, 4])
        #expect(queue.isEmpty)
    }
}
