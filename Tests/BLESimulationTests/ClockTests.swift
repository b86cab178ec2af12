import BLEHost
import BLERuntime
import BLEWire
import Dispatch
import Testing

@testable import BLESimulation

@Suite("World clock") @MainActor
struct ClockTests {
    private let world = World(seed: 1)

    @Test("Tasks wake on time, in the order of their times, and equal times in the order of arrival")
    func order() async throws {
        var woken: [String] = []
        let tasks = [("c", 3), ("a", 1), ("b", 2), ("d", 3)].map { name, seconds in
            Task {
                try await world.clock.sleep(for: .seconds(seconds))
                woken.append("\(name) \(world.now)")
            }
        }
        await world.advance(by: .seconds(3) - .nanoseconds(1))
        #expect(woken == ["a 1.0 seconds", "b 2.0 seconds"])
        await world.advance(by: .nanoseconds(1))
        #expect(woken == ["a 1.0 seconds", "b 2.0 seconds", "c 3.0 seconds", "d 3.0 seconds"])
        for task in tasks { try await task.value }
    }

    @Test("A task that sleeps repeatedly follows the world's time")
    func again() async throws {
        var ticks: [Duration] = []
        let task = Task {
            for _ in 0..<5 {
                try await world.clock.sleep(for: .milliseconds(250))
                ticks.append(world.now)
            }
        }
        await world.advance(by: .seconds(10))
        #expect(ticks == (1...5).map { .milliseconds(250) * $0 })
        try await task.value
    }

    @Test("A time that has passed wakes the task immediately, without advancing the world")
    func past() async throws {
        await world.advance(by: .seconds(1))
        try await world.clock.sleep(until: .init(age: .seconds(1)))
        try await world.clock.sleep(for: .seconds(-1))
        #expect(world.now == .seconds(1))
    }

    @Test("A cancelled task wakes immediately, whether or not it was already asleep", arguments: [false, true])
    func cancelled(slept: Bool) async {
        let task = Task { try await world.clock.sleep(for: .seconds(1)) }
        if slept { await world.advance(by: .milliseconds(500)) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        await world.advance(by: .seconds(1))
        #expect(world.now == (slept ? .milliseconds(1_500) : .seconds(1)))
    }

    @Test("Tasks also wake in real time")
    func realTime() async throws {
        world.runInRealTime()
        try await world.clock.sleep(for: .milliseconds(20))
        #expect(world.now >= .milliseconds(20))
    }
}

/// Not on the main actor, where the waits would keep other worlds waiting for its queue.
@Suite("Worlds in real time", .timeLimit(.minutes(30)))
struct RealTimeTests {
    private let world = World(seed: 1)

    @Test("A world with devices that no app looks for has nothing to do, until an app looks for them")
    func idle() async throws {
        for number in 0..<10 { world.place(SimulatedPeripheral(name: "Sensor \(number)", services: [])) }
        // Devices advertise fast at first.
        await world.advance(by: .seconds(60))
        world.runInRealTime()
        try await waiting {
            let (deadline, now) = world.core.withLock { ($0.deadline, $0.now) }
            return deadline.map { $0 > now + .seconds(300) } ?? true
        }
        let found = Locked<Set<DeviceAddress>>([])
        let session = world.machine("phone").open(.central, on: .global()) { event in
            if case .discovered(let report) = event { found.withLock { _ = $0.insert(report.address) } }
        }
        session.send(.scan(ScanRequest()))
        try await waiting { found.withLock { $0.count } == 10 }
        session.close()
    }

    @Test("The age of a world without devices increases, too")
    func age() async throws {
        world.runInRealTime()
        let before = world.now
        try await waiting { world.now >= before + .milliseconds(20) }
        #expect(!world.story.contains("after \(before)"))
    }

    /// Waits until `condition` holds; throws if the test runs out of time.
    private func waiting(until condition: () -> Bool) async throws {
        while !condition() {
            try Task.checkCancellation()
            await Task.yield()
        }
    }
}
