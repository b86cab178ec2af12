import BLESimulation
import Testing

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
