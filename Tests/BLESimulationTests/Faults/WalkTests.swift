import BLEWire
import Testing

@testable import BLESimulation

@Suite("Walks")
struct WalkTests {
    private static let start = World.Position(x: 10), end = World.Position(x: 20, y: -4, z: 2)

    /// Returns the times and positions of the first steps, at most `limit`.
    private static func steps(_ duration: Duration, limit: Int = 1_000) -> [(time: Instant, position: World.Position)] {
        var walk = Walk(number: 1, from: start, to: end, taking: duration, at: Instant() + .seconds(5))
        var steps: [(Instant, World.Position)] = []
        while let time = walk.deadline, steps.count < limit { steps.append((time, walk.takeStep())) }
        return steps
    }

    /// Returns whether the steps are `interval` apart, as exactly as the arithmetic allows, beginning at the start.
    private static func areSpaced(_ steps: [(time: Instant, position: World.Position)], by interval: Duration) -> Bool {
        zip(1..., steps).allSatisfy { number, step in
            abs(step.time.nanoseconds(since: Instant() + .seconds(5) + interval * number)) <= 1
        }
    }

    @Test("A walk has a step every 100 ms, and the last one leads to its end")
    func steps() {
        let steps = Self.steps(.seconds(10))
        #expect(steps.count == 100 && Self.areSpaced(steps, by: .milliseconds(100)))
        #expect(steps[49].position == World.Position(x: 15, y: -2, z: 1))
        #expect(steps.last?.position == Self.end)
    }

    @Test("A walk of more than a day has longer steps")
    func long() {
        let steps = Self.steps(.seconds(2 * 86_400), limit: 3)
        #expect(steps.count == 3 && Self.areSpaced(steps, by: .milliseconds(200)))
        #expect(Self.steps(.seconds(Int64.max), limit: 3).count == 3)
    }

    @Test(
        "A walk without a positive duration leads to its end immediately",
        arguments: [.zero, .seconds(-1), .seconds(Int64.min)] as [Duration]
    )
    func immediate(duration: Duration) {
        let steps = Self.steps(duration)
        #expect(steps.map(\.time) == [Instant() + .seconds(5)] && steps.map(\.position) == [Self.end])
    }
}
