import BLEWire
import Dispatch
import Glibc
import Testing

@testable import BLERuntime

@Suite("Event loop", .timeLimit(.minutes(30)))
struct EventLoopTests {
    /// A pipe whose ends close when they are let go.
    struct Pipe {
        let reading: FileDescriptor
        let writing: FileDescriptor

        init() {
            var ends: [Int32] = [0, 0]
            #expect(pipe(&ends) == 0)
            reading = FileDescriptor(ends[0])
            writing = FileDescriptor(ends[1])
        }

        func write() {
            var octet: UInt8 = 1
            #expect(Glibc.write(writing.raw, &octet, 1) == 1)
        }
    }

    static func started() -> EventLoop {
        let loop = EventLoop("test-loop")
        loop.start()
        return loop
    }

    /// Lets everything that was posted before run.
    static func settle(_ loop: EventLoop) { loop.sync {} }

    @Test("Work posted before the start runs after it, in order, on the loop's thread")
    func order() {
        let loop = EventLoop("test-loop"), heard = Locked<[Int]>([])
        for number in 0..<100 {
            loop.post { heard.withLock { $0.append(loop.isCurrent ? number : -1) } }
        }
        #expect(heard.withLock { $0 } == [])
        loop.start()
        Self.settle(loop)
        #expect(heard.withLock { $0 } == Array(0..<100))
        #expect(!loop.isCurrent)
    }

    @Test("Work posted by many threads runs once, in order for each thread")
    func manyThreads() {
        let loop = Self.started(), heard = Locked<[[Int]]>(Array(repeating: [], count: 8))
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for number in 0..<1_000 { loop.post { heard.withLock { $0[thread].append(number) } } }
        }
        Self.settle(loop)
        #expect(heard.withLock { $0 } == Array(repeating: Array(0..<1_000), count: 8))
    }

    @Test("Work that arrives together is followed by one turn")
    func oneTurn() {
        let loop = EventLoop("test-loop"), turns = Locked(0), atOnce = Locked<[Int]>([])
        for _ in 0..<10 { loop.post { atOnce.withLock { $0.append(turns.withLock { $0 }) } } }
        loop.start {
            turns.withLock { $0 += 1 }
            return nil
        }
        Self.settle(loop)
        #expect(atOnce.withLock { $0 } == Array(repeating: 0, count: 10))
    }

    @Test("The next turn comes at its requested time, not before")
    func deadline() async {
        let (times, sink) = AsyncStream.makeStream(of: (said: Instant?, now: Instant).self)
        let loop = EventLoop("test-loop"), said = Locked<Instant?>(nil), clock = loop.clock
        loop.start {
            let now = clock.now
            sink.yield((said.withLock { $0 }, now))
            let next = now + .milliseconds(2)
            said.withLock { $0 = next }
            return next
        }
        loop.wake()
        var count = 0
        for await time in times {
            if let said = time.said { #expect(time.now >= said) }
            count += 1
            if count == 5 { break }
        }
    }

    @Test("Alarms fire once and not early, and cancelled ones never fire")
    func alarms() async {
        let loop = Self.started(), (rings, sink) = AsyncStream.makeStream(of: (due: Instant, now: Instant).self)
        loop.post {
            for delay in [9, 3, 6] {
                let due = loop.clock.now + .milliseconds(delay)
                _ = loop.alarm(at: due) { sink.yield((due, loop.clock.now)) }
            }
            let cancelled = loop.alarm(at: loop.clock.now + .milliseconds(1)) { sink.yield((.init(), .init())) }
            cancelled.cancel()
        }
        var heard: [(due: Instant, now: Instant)] = []
        for await ring in rings {
            heard.append(ring)
            if heard.count == 3 { break }
        }
        #expect(heard.allSatisfy { $0.now >= $0.due && $0.due > Instant() })
        #expect(heard.map(\.due) == heard.map(\.due).sorted())
    }

    @Test("A descriptor is reported when it is ready and something is awaited")
    func watching() async {
        let loop = Self.started(), pipe = Pipe(), (events, sink) = AsyncStream.makeStream(of: LoopWatch.Interest.self)
        let watch = loop.watch(pipe.reading, for: []) { possible in
            sink.yield(possible)
            var octet: UInt8 = 0
            read(pipe.reading.raw, &octet, 1)
        }
        pipe.write()
        Self.settle(loop)
        Self.settle(loop)
        loop.sync { watch.interest = .reading }
        #expect(await events.first { _ in true } == .reading)
        pipe.write()
        #expect(await events.first { _ in true } == .reading)
        sink.finish()
        #expect(await events.first { _ in true } == nil)
    }

    @Test(
        "A loop that polls before it sleeps receives events of descriptors, other threads and alarms",
        arguments: [1, 4, 16]
    )
    func polling(every number: Int) async {
        let loops = [Self.started(), Self.started()], pipes = [Pipe(), Pipe()], rounds = 2_000
        let (news, sink) = AsyncStream.makeStream(of: String.self)
        for (own, loop) in loops.enumerated() {
            let left = Locked(rounds)
            loop.post {
                @Sendable func hear() {
                    var octet: UInt8 = 0
                    read(pipes[own].reading.raw, &octet, 1)
                    let rest = left.withLock { left in
                        left -= 1
                        return left
                    }
                    if rest >= 0 { pipes[1 - own].write() }
                    guard own == 0, rest >= 0, rest.isMultiple(of: number) else { return }
                    _ = loop.alarm(at: loop.clock.now + .microseconds(30)) { sink.yield("alarm") }
                    loops[1].post { loop.post { sink.yield("post") } }
                }
                loop.allowPolling()
                _ = loop.watch(pipes[own].reading, for: .reading) { _ in hear() }
            }
        }
        pipes[0].write()
        let wanted = rounds / number
        var heard: [String: Int] = [:]
        for await word in news {
            heard[word, default: 0] += 1
            if heard.values.reduce(0, +) == 2 * wanted { break }
        }
        #expect(heard == ["alarm": wanted, "post": wanted])
    }

    @Test("The end of a stream counts as the awaited event, and is not reported if none is awaited")
    func end() async {
        let loop = Self.started(), (events, sink) = AsyncStream.makeStream(of: LoopWatch.Interest.self)
        var pipe: Pipe? = Pipe()
        let reading = pipe?.reading ?? FileDescriptor(-1)
        let watch = loop.watch(reading, for: []) { sink.yield($0) }
        pipe = nil
        Self.settle(loop)
        Self.settle(loop)
        loop.sync { watch.interest = .reading }
        #expect(await events.first { _ in true } == .reading)
        watch.cancel()
    }

    @Test("When two descriptors are ready together, the first handler may cancel the second")
    func cancelling() async {
        let loop = Self.started(), first = Pipe(), second = Pipe()
        let (events, sink) = AsyncStream.makeStream(of: Int.self)
        first.write()
        second.write()
        loop.post {
            let later = Locked<LoopWatch?>(nil)
            let earlier = loop.watch(first.reading, for: .reading) { _ in
                sink.yield(1)
                later.withLock { $0?.cancel() }
                var octet: UInt8 = 0
                read(first.reading.raw, &octet, 1)
            }
            let watch = loop.watch(second.reading, for: .reading) { _ in sink.yield(2) }
            later.withLock { $0 = watch }
            _ = earlier
        }
        #expect(await events.first { _ in true } == 1)
        first.write()
        #expect(await events.first { _ in true } == 1)
    }

    @Test("A cancelled watch releases its descriptor")
    func lettingGo() async {
        let loop = Self.started()
        weak var held: FileDescriptor?
        do {
            let pipe = Pipe(), watch = loop.watch(pipe.reading, for: .reading) { _ in }
            held = pipe.reading
            Self.settle(loop)
            watch.cancel()
        }
        Self.settle(loop)
        Self.settle(loop)
        #expect(held == nil)
    }

    @Test("The thread ends once the loop is released")
    func ending() async {
        final class Witness: Sendable {
            let gone: @Sendable () -> Void
            init(_ gone: @escaping @Sendable () -> Void) { self.gone = gone }
            deinit { gone() }
        }
        let (ends, sink) = AsyncStream.makeStream(of: Void.self)
        do {
            let loop = EventLoop("test-loop"), witness = Witness { sink.yield() }
            loop.start {
                withExtendedLifetime(witness) { nil }
            }
            Self.settle(loop)
        }
        #expect(await ends.first { _ in true } != nil)
    }

    @Test("A loop can be an actor's executor")
    func executor() async {
        actor Counter {
            let loop = EventLoopTests.started()
            private var count = 0
            nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
            func add() -> Bool {
                count += 1
                return loop.isCurrent
            }
            var sum: Int { count }
        }
        let counter = Counter()
        for _ in 0..<10 { #expect(await counter.add()) }
        counter.loop.sync { counter.assumeIsolated { _ = $0.add() } }
        #expect(await counter.sum == 11)
    }
}
