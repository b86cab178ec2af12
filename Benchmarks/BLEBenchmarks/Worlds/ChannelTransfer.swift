import BLESimulation
import CoreBluetooth
import Glibc

/// A benchmark that transfers octets over one channel of `CoreBluetooth`, in both directions at the same time, between
/// apps on two machines.
///
/// At first neither app reads, which must stop both senders. Then all octets must arrive unchanged. The additional
/// memory of the process must not depend on the number of octets.
@MainActor
enum ChannelTransfer {
    /// The additional memory that the process may use, in octets, including memory that the allocator retains.
    ///
    /// It is enough for two windows and some pieces of data in each direction.
    private static let memory = 48 << 20
    private static let patience = 3_600

    nonisolated static func measure(octets: Int, seed: UInt64) -> Result {
        MainLoop.wait { await run(octets: octets, seed: seed) }
    }

    private static func run(octets: Int, seed: UInt64) async -> Result {
        let wall = Stopwatch(.wall), processor = Stopwatch(.processor)
        let world = World(seed: seed, conditions: .init(loss: 0.01))
        let store = TransferEnd(sending: octets, salt: 0), visitor = TransferEnd(sending: octets, salt: 1)
        var apps: [NSObject] = []
        world.machine("store").inhabit { apps.append(TransferStore(store)) }
        world.machine("visitor", at: .init(x: 2)).inhabit { apps.append(TransferVisitor(visitor)) }
        let ends = [store, visitor]
        for _ in 0..<patience where !ends.allSatisfy(\.isOpen) { await world.advance(by: .seconds(1)) }
        let before = peakMemory()
        await world.advance(by: .seconds(20))
        let stalled = ends.map(\.sent)
        for end in ends { end.startReading() }
        for _ in 0..<patience where !ends.allSatisfy(\.isDone) { await world.advance(by: .seconds(1)) }
        let growth = peakMemory() - before
        withExtendedLifetime(apps) {}
        let isIntact = ends.allSatisfy(\.isIntact)
        return Result(
            workload: "channel",
            explanation: "an L2CAP channel, both directions at the same time, 1 % loss",
            figures: [
                .init("octets", .count(octets)),
                .init("received_by_store", .count(store.received)),
                .init("received_by_visitor", .count(visitor.received)),
                .init("intact", .truth(isIntact)),
                .init("sent_unread", .count(stalled.max() ?? 0)),
                .init("memory_growth_mib", .number(Double(growth) / Double(1 << 20))),
                .init("simulated_seconds", .count(Int(world.now.components.seconds))),
                .init("wall_seconds", .number(wall.seconds)),
                .init("cpu_seconds", .number(processor.seconds)),
                .init("hash", .text(String(world.traceHash, radix: 16))),
            ],
            isGood: isIntact && ends.allSatisfy(\.isDone) && growth <= memory
        )
    }

    /// Returns the peak memory of this process in octets.
    private static func peakMemory() -> Int {
        var usage = rusage()
        getrusage(RUSAGE_SELF.rawValue, &usage)
        return usage.ru_maxrss << 10
    }
}
