import Testing

@testable import BLEHost

@Suite("Output queue")
struct OutputQueueTests {
    @Test("All comes out once and in order, however it is taken", arguments: 0...4)
    func order(alone: Int) {
        var queue = OutputQueue<Int>(), taken: [Int] = []
        for number in 0..<4 { queue.append(number) }
        for _ in 0..<alone { taken += [queue.next()].compactMap(\.self) }
        queue.append(4)
        var rest: [Int] = []
        queue.takeAll(into: &rest)
        #expect(taken + rest == [0, 1, 2, 3, 4])
        #expect(queue.isEmpty)
        #expect(queue.next() == nil)
    }
}
