import Glibc
import Testing

@testable import BLERuntime

@Suite("A loop with many descriptors", .timeLimit(.minutes(30)))
struct EpollSetTests {
    typealias Pipe = EventLoopTests.Pipe

    /// What was heard of, in order.
    final class Notes: Sendable {
        let heard = Locked<[Int]>([])
    }

    /// Pipes that one loop watches, and what it hears of them.
    final class Crowd: Sendable {
        let loop = EventLoopTests.started()
        let pipes: [Pipe]
        let watches: [LoopWatch]
        private let notes = Notes()

        init(_ count: Int) {
            let pipes = (0..<count).map { _ in Pipe() }, loop = loop, notes = notes
            self.pipes = pipes
            watches = pipes.indices.map { index in
                loop.watch(pipes[index].reading, for: .reading) { _ in
                    var octet: UInt8 = 0
                    read(pipes[index].reading.raw, &octet, 1)
                    notes.heard.withLock { $0.append(index) }
                }
            }
        }

        /// What is heard of octets that are written to these, one after the other.
        func hears(of indices: some Sequence<Int>) -> [Int] {
            for index in indices {
                pipes[index].write()
                // Who is woken need not ask the system in every round.
                for _ in 0..<4 { EventLoopTests.settle(loop) }
            }
            return notes.heard.withLock { heard in
                defer { heard = [] }
                return heard
            }
        }
    }

    @Test("The loop receives events of every descriptor, however many there are", arguments: [1, 15, 16, 17, 200])
    func each(count: Int) {
        let crowd = Crowd(count)
        #expect(crowd.hears(of: 0..<count) == Array(0..<count))
        #expect(crowd.hears(of: (0..<count).reversed()) == Array((0..<count).reversed()))
    }

    @Test("The loop receives all simultaneous events, even more than it fetches at a time")
    func together() {
        let crowd = Crowd(150)
        crowd.loop.sync { for pipe in crowd.pipes { pipe.write() } }
        for _ in 0..<8 { EventLoopTests.settle(crowd.loop) }
        #expect(Set(crowd.hears(of: [])) == Set(0..<150))
    }

    @Test("The loop receives no events of a descriptor until there is interest in it")
    func interest() {
        let crowd = Crowd(20)
        #expect(crowd.hears(of: [3]) == [3])
        crowd.loop.sync { crowd.watches[3].interest = [] }
        #expect(crowd.hears(of: [3, 4]) == [4])
        crowd.loop.sync { crowd.watches[3].interest = .reading }
        for _ in 0..<4 { EventLoopTests.settle(crowd.loop) }
        #expect(crowd.hears(of: []) == [3])
    }

    @Test("The loop receives no events of cancelled descriptors, and shrinks once most are cancelled")
    func cancelled() {
        let crowd = Crowd(20)
        #expect(crowd.hears(of: [0]) == [0])
        for index in 0..<4 { crowd.watches[index].cancel() }
        EventLoopTests.settle(crowd.loop)
        #expect(crowd.hears(of: 0..<20) == Array(4..<20))
        for index in 4..<18 { crowd.watches[index].cancel() }
        EventLoopTests.settle(crowd.loop)
        #expect(crowd.hears(of: 0..<20) == [18, 19])
    }

    @Test("A descriptor that is watched again receives the pending event of the first watch")
    func again() {
        let crowd = Crowd(20), notes = Notes()
        #expect(crowd.hears(of: [5]) == [5])
        crowd.watches[5].cancel()
        let watch = crowd.loop.watch(crowd.pipes[5].reading, for: .reading) { _ in
            var octet: UInt8 = 0
            read(crowd.pipes[5].reading.raw, &octet, 1)
            notes.heard.withLock { $0.append(5) }
        }
        #expect(crowd.hears(of: [5, 6]) == [6])
        #expect(notes.heard.withLock { $0 } == [5])
        watch.cancel()
    }

    @Test("If a descriptor does not support epoll, all are polled one by one")
    func uncrowdable() throws {
        let crowd = Crowd(20), raw = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC)
        try #require(raw >= 0)
        let file = FileDescriptor(raw)
        let watch = crowd.loop.watch(file, for: .reading) { _ in }
        #expect(crowd.hears(of: 0..<20) == Array(0..<20))
        watch.cancel()
        #expect(crowd.hears(of: 0..<20) == Array(0..<20))
    }

    @Test("The end of a stream is reported as the awaited event")
    func end() async {
        let crowd = Crowd(20), (events, sink) = AsyncStream.makeStream(of: LoopWatch.Interest.self)
        var pipe: Pipe? = Pipe()
        let watch = crowd.loop.watch(pipe?.reading ?? FileDescriptor(-1), for: .reading) { sink.yield($0) }
        for _ in 0..<4 { EventLoopTests.settle(crowd.loop) }
        pipe = nil
        #expect(await events.first { _ in true } == .reading)
        watch.cancel()
        EventLoopTests.settle(crowd.loop)
    }
}
