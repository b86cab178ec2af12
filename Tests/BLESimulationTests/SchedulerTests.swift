import BLERuntime
import BLESimulation
import CoreBluetooth
import Testing

@Suite("World scheduler") @MainActor
struct SchedulerTests {
    private let world = World(seed: 1)

    /// What was called when, from whichever queue.
    private final class Log: Sendable {
        private let entries = Locked<[String]>([])
        var all: [String] { entries.withLock { $0 } }
        func add(_ text: String) { entries.withLock { $0.append(text) } }
    }

    @Test("Closures run on time, on their queue, in the order of their times", arguments: [false, true])
    func order(isMain: Bool) async {
        let queue = isMain ? DispatchQueue.main : DispatchQueue(label: "own"), log = Log(), world = world
        for (name, seconds) in [("c", 3), ("a", 1), ("b", 2)] {
            world.scheduler.after(.seconds(seconds), on: queue) {
                dispatchPrecondition(condition: .onQueue(queue))
                log.add("\(name) \(world.now)")
            }
        }
        await world.advance(by: .seconds(3) - .nanoseconds(1))
        #expect(log.all == ["a 1.0 seconds", "b 2.0 seconds"])
        await world.advance(by: .nanoseconds(1))
        #expect(log.all == ["a 1.0 seconds", "b 2.0 seconds", "c 3.0 seconds"])
    }

    @Test("A repeating closure follows the world's time until it is cancelled")
    func again() async {
        let log = Log(), world = world
        let appointment = world.scheduler.every(.milliseconds(250), on: DispatchQueue(label: "own")) {
            log.add("\(world.now)")
        }
        await world.advance(by: .seconds(1))
        #expect(log.all == ["0.25 seconds", "0.5 seconds", "0.75 seconds", "1.0 seconds"])
        appointment.cancel()
        await world.advance(by: .seconds(1))
        #expect(log.all.count == 4)
    }

    @Test("A closure cancelled in time never runs, and one that cancels itself does not run again")
    func cancelled() async {
        let log = Log(), own = Locked<World.Appointment?>(nil)
        world.scheduler.after(.seconds(1)) { log.add("no") }.cancel()
        let appointment = world.scheduler.every(.seconds(1)) {
            log.add("once")
            own.withLock { $0 }?.cancel()
        }
        own.withLock { $0 = appointment }
        await world.advance(by: .seconds(5))
        #expect(log.all == ["once"])
    }

    @Test("The first of two closures at the same time can cancel the second")
    func cancelledInTime() async {
        let log = Log(), second = Locked<World.Appointment?>(nil)
        world.scheduler.after(.seconds(1)) {
            log.add("first")
            second.withLock { $0 }?.cancel()
        }
        let appointment = world.scheduler.after(.seconds(1)) { log.add("second") }
        second.withLock { $0 = appointment }
        await world.advance(by: .seconds(2))
        #expect(log.all == ["first"])
    }

    @Test("Time waits for a closure on a queue that the world does not know, however long it runs")
    func busy() async {
        let log = Log(), world = world
        world.scheduler.after(.seconds(1), on: DispatchQueue(label: "own")) {
            var hash = Hasher()
            for number in 0..<1_000_000 { hash.combine(number) }
            log.add(hash.finalize() == 0 ? "" : "busy")
            log.add("\(world.now)")
        }
        world.scheduler.after(.seconds(1) + .nanoseconds(1)) { log.add("later") }
        await world.advance(by: .seconds(2))
        #expect(log.all.suffix(2) == ["1.0 seconds", "later"])
    }

    @Test("The consequences of a closure run before time advances")
    func consequences() async {
        let log = Log(), world = world
        world.scheduler.after(.seconds(1)) {
            DispatchQueue.main.async { DispatchQueue.main.async { log.add("\(world.now)") } }
        }
        world.scheduler.after(.seconds(1) + .nanoseconds(1)) { log.add("later") }
        await world.advance(by: .seconds(2))
        #expect(log.all == ["1.0 seconds", "later"])
    }

    @Test("The world waits for an immediate closure as for a later one", arguments: [Duration.zero, .seconds(-1)])
    func atOnce(delay: Duration) async {
        let log = Log(), world = world
        let work: @Sendable () -> Void = {
            var hash = Hasher()
            for number in 0..<1_000_000 { hash.combine(number) }
            log.add(hash.finalize() == 0 ? "" : "\(world.now)")
        }
        world.scheduler.after(delay, on: DispatchQueue(label: "own"), work)
        world.scheduler.after(.nanoseconds(1)) { log.add("later") }
        world.scheduler.after(.seconds(1)) {
            world.scheduler.after(delay, on: DispatchQueue(label: "another"), work)
        }
        world.scheduler.after(.seconds(1) + .nanoseconds(1)) { log.add("last") }
        await world.advance(by: .seconds(2))
        #expect(log.all == ["0.0 seconds", "later", "1.0 seconds", "last"])
    }

    @Test("An immediate closure runs after all earlier ones, and not if it is cancelled")
    func atOnceInOrder() async {
        let log = Log(), world = world
        world.scheduler.after(.zero) { log.add("no") }.cancel()
        world.scheduler.after(.seconds(1)) {
            log.add("a")
            world.scheduler.after(.zero, on: DispatchQueue(label: "own")) { log.add("c") }
        }
        world.scheduler.after(.seconds(1)) { log.add("b") }
        await world.advance(by: .seconds(1))
        #expect(log.all == ["a", "b", "c"])
    }

    @Test("A closure that reschedules itself immediately does not stop time")
    func endless() async {
        let world = world, count = Locked(0), log = Log()
        @Sendable func again() {
            count.withLock { $0 += 1 }
            world.scheduler.after(.zero, on: DispatchQueue(label: "own"), again)
        }
        world.scheduler.after(.nanoseconds(1)) { log.add("other") }
        again()
        await world.advance(by: .milliseconds(1) - .nanoseconds(1))
        #expect(log.all == ["other"])
        #expect(count.withLock { $0 } == 1_001)
        await world.advance(by: .nanoseconds(1))
        #expect(count.withLock { $0 } == 2_002)
    }

    @Test("A manager created in a closure belongs to the world that scheduled it")
    func inhabited() async {
        let made = Locked<CBCentralManager?>(nil), world = world
        world.inhabit {
            _ = world.scheduler.after(.seconds(1)) {
                made.withLock { $0 = CBCentralManager(delegate: nil, queue: .main) }
            }
        }
        await world.advance(by: .seconds(3))
        #expect(made.withLock { $0?.state } == .poweredOn)
    }

    @Test(
        "Closures also run in real time",
        .timeLimit(.minutes(30)),
        arguments: [.zero, .milliseconds(20)] as [Duration]
    )
    func realTime(delay: Duration) async {
        world.runInRealTime()
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            world.scheduler.after(delay) { done.resume() }
        }
        #expect(world.now >= delay)
    }
}
