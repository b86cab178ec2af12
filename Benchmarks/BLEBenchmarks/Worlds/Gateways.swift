import BLEHost
import BLERuntime
import BLESimulation
import Dispatch

/// A benchmark of scanning gateways out of range of each other, each with three sensors that advertise every 100 ms.
struct Gateways {
    static let sensorsOfEach = 3

    /// Measures with the main queue, and with a queue of the gateways' own.
    static func measure(gateways: Int) -> [Result] {
        [
            MainLoop.wait { await run(gateways: gateways, on: .main, "the main queue") },
            MainLoop.wait {
                await run(gateways: gateways, on: DispatchQueue(label: "gateways"), "a queue of their own")
            },
        ]
    }

    @MainActor
    private static func run(gateways: Int, on queue: DispatchQueue, _ name: String) async -> Result {
        let seconds = 5, setUp = Stopwatch(.wall), world = World(seed: 1)
        let counter = Counter()
        let sessions = (0..<gateways).map { number in
            let x = Double(number % 40) * 1_000, y = Double(number / 40) * 1_000
            for sensor in 0..<sensorsOfEach {
                let name = "Sensor \(number).\(sensor)"
                world.place(SimulatedPeripheral(name: name, at: .init(x: x + 1, y: y + Double(sensor)), services: []))
            }
            let events = EventReceiver.each(on: queue) { event in
                if case .discovered = event { counter.count.withLock { $0 += 1 } }
            }
            let session = world.machine("gateway \(number)", at: .init(x: x, y: y)).open(
                .central,
                restoring: nil,
                events
            )
            session.send(.scan(ScanRequest(allowsDuplicates: true)))
            return session
        }
        await world.advance(by: .seconds(2))
        let standing = setUp.seconds, before = counter.value, processor = Stopwatch(.processor)
        await world.advance(by: .seconds(seconds))
        let taken = processor.seconds, reports = counter.value - before
        withExtendedLifetime(sessions) {}
        let expected = gateways * sensorsOfEach * seconds * 10
        return Result(
            workload: "gateways-\(gateways)",
            explanation: "gateways with three sensors each, out of range of each other, on \(name)",
            figures: [
                .init("gateways", .count(gateways)), .init("queue", .text(name)),
                .init("setup_seconds", .number(standing)),
                .init("simulated_seconds", .count(seconds)),
            ] + Result.pace(of: seconds, taking: taken, reports: reports) + [
                .init("hash", .text(String(world.traceHash, radix: 16)))
            ],
            isGood: reports > expected / 2 && reports <= expected
        )
    }

    private final class Counter: Sendable {
        let count = Locked(0)
        var value: Int { count.withLock { $0 } }
    }
}
