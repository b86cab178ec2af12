import BLEWire
import Dispatch
import Glibc
import Synchronization
import Testing

@testable import BLERuntime

@Suite("Turns on other threads", .timeLimit(.minutes(30)))
struct LoopTurnTests {
    /// What turns leave behind.
    final class Notes: Sendable {
        private let turns = Atomic(0)
        private let isTaken = Atomic(false)
        private let clashes = Atomic(0)
        private let thread = Atomic<UInt>(0)
        private let place = Atomic(false)

        func turn(of loop: EventLoop?) {
            if isTaken.exchange(true, ordering: .relaxed) { clashes.add(1, ordering: .relaxed) }
            turns.add(1, ordering: .relaxed)
            thread.store(UInt(pthread_self()), ordering: .relaxed)
            place.store(loop?.isCurrent ?? false, ordering: .relaxed)
            isTaken.store(false, ordering: .relaxed)
        }

        var count: Int { turns.load(ordering: .relaxed) }
        /// How many turns began before the one before them had ended.
        var overlaps: Int { clashes.load(ordering: .relaxed) }
        /// The thread of the last turn, and whether it was taken for the loop's own.
        var lastThread: UInt { thread.load(ordering: .relaxed) }
        var hadPlace: Bool { place.load(ordering: .relaxed) }
    }

    /// Has this thread take a turn as soon as the loop lets it.
    static func takeTurn(of loop: EventLoop) {
        while !loop.takeTurnHere() { sched_yield() }
    }

    @Test("While the loop waits, another thread can take the turn in its place")
    func place() {
        let loop = EventLoop("test-loop"), notes = Notes()
        loop.start { [weak loop] in
            notes.turn(of: loop)
            return nil
        }
        Self.takeTurn(of: loop)
        #expect(notes.lastThread == UInt(pthread_self()))
        #expect(notes.hadPlace)
        #expect(!loop.isCurrent)
        #expect(loop.sync { UInt(pthread_self()) } != UInt(pthread_self()))
    }

    @Test("No other thread can take a turn before the start or while the loop works")
    func refusal() {
        let loop = EventLoop("test-loop"), notes = Notes()
        #expect(!loop.takeTurnHere())
        let begun = DispatchSemaphore(value: 0), goesOn = DispatchSemaphore(value: 0)
        loop.post {
            begun.signal()
            goesOn.wait()
        }
        loop.start {
            notes.turn(of: nil)
            return nil
        }
        begun.wait()
        for _ in 0..<100 { #expect(!loop.takeTurnHere()) }
        #expect(notes.count == 0)
        goesOn.signal()
        loop.sync {}
    }

    @Test(
        "A deadline set by another thread's turn is met, however long the loop meant to wait",
        arguments: [nil, Duration.seconds(3_600)]
    )
    func deadline(before: Duration?) async {
        let loop = EventLoop("test-loop"), clock = loop.clock, isAsked = Locked(false), due = Locked<Instant?>(nil)
        let (rings, sink) = AsyncStream.makeStream(of: Instant.self)
        loop.start {
            let now = clock.now
            if isAsked.withLock({ $0 }), due.withLock({ $0 }) == nil { due.withLock { $0 = now + .milliseconds(3) } }
            guard let due = due.withLock({ $0 }) else { return before.map { now + $0 } }
            if due <= now { sink.yield(now) }
            return due > now ? due : nil
        }
        Self.takeTurn(of: loop)
        isAsked.withLock { $0 = true }
        Self.takeTurn(of: loop)
        let first = await rings.first { _ in true }
        #expect(due.withLock { $0 }.map { due in first.map { $0 >= due } ?? false } == true)
    }

    @Test("A descriptor that another thread's turn begins to watch is watched from then on")
    func watching() async {
        let loop = EventLoop("test-loop"), pipe = EventLoopTests.Pipe()
        let (events, sink) = AsyncStream.makeStream(of: LoopWatch.Interest.self)
        let watch = loop.watch(pipe.reading, for: []) { possible in
            var octet: UInt8 = 0
            read(pipe.reading.raw, &octet, 1)
            sink.yield(possible)
        }
        let wanted = Locked<LoopWatch?>(nil)
        loop.start {
            wanted.withLock { $0 }?.interest = .reading
            return nil
        }
        pipe.write()
        loop.sync {}
        loop.sync {}
        wanted.withLock { $0 = watch }
        Self.takeTurn(of: loop)
        #expect(await events.first { _ in true } == .reading)
    }

    @Test(
        "However many threads take turns and wake the loop, one turn runs at a time and none is lost",
        arguments: [false, true]
    )
    func exclusion(polls: Bool) {
        let loop = EventLoop("test-loop"), notes = Notes(), board = Board()
        loop.start { [weak loop] in
            notes.turn(of: loop)
            board.work()
            return nil
        }
        if polls { loop.post { loop.allowPolling() } }
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            for _ in 0..<2_000 {
                board.add()
                if !loop.takeTurnHere() { loop.wake() }
            }
        }
        loop.sync {}
        loop.sync {}
        #expect(board.isDone)
        #expect(notes.overlaps == 0)
    }

    /// Work that turns do.
    final class Board: Sendable {
        private let asked = Atomic(0)
        private let done = Atomic(0)
        func add() { asked.add(1, ordering: .relaxed) }
        func work() { done.store(asked.load(ordering: .relaxed), ordering: .relaxed) }
        var isDone: Bool { asked.load(ordering: .relaxed) == done.load(ordering: .relaxed) }
    }
}
