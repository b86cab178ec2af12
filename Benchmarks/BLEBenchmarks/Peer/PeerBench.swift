import BLEHost
import BLERuntime
import BLEWire
import CoreBluetooth
import Glibc

/// One end of a benchmark between two processes that are connected by a controller.
///
/// The workloads use only the public API, except for ``readDirectly(operations:)``.
struct PeerBench {
    /// The address of the controller's socket.
    let controller: SocketAddress

    /// Serves until the process is killed; returns a failed result if the server could not start.
    ///
    /// First prints a line that says that clients can connect.
    func serve() -> Result {
        let runner = host(PeerPlan.serverAddress, mtu: ATT.maximumMTU)
        let ready = Outcome<Bool>()
        let server = Bluetooth.$link.withValue(runner) { PeerServer { ready.set($0) } }
        guard ready.wait() else { return failure("server") }
        try? StandardStream.output.write(line: #"{"workload": "server", "ready": true}"#)
        while true { withExtendedLifetime(server) { _ = pause() } }
    }

    /// Runs workloads with each of the MTUs, on one connection for each MTU.
    func ask(_ workloads: [PeerWorkload], operations: Int, mtus: [Int]) -> [Result] {
        mtus.flatMap { mtu in
            let chosen = workloads.filter { $0.isMeasured(mtu: mtu, among: mtus) }
            let runner = host(PeerPlan.clientAddress, mtu: mtu)
            defer { runner.stop() }
            let client = PeerClient(), connected = Outcome<Bool>()
            Bluetooth.$link.withValue(runner) {
                client.queue.sync { client.connect { connected.set($0) } }
            }
            guard connected.wait() else { return chosen.map { failure($0.rawValue) } }
            let results = chosen.map { measure($0, on: client, operations: operations, mtu: mtu) }
            let gone = Outcome<Bool>()
            client.queue.sync { client.disconnect { gone.set(true) } }
            _ = gone.wait()
            return results
        }
    }

    /// Measures reads without an app's queue and objects.
    func readDirectly(operations: Int) -> Result {
        let runner = host(PeerPlan.clientAddress, mtu: ATT.defaultMTU)
        defer { runner.stop() }
        let begun = Outcome<Bool>(), done = Outcome<Int>()
        let reader = DirectReader(operations: operations) {
            begun.set(true)
        } done: {
            done.set($0)
        }
        reader.start(on: runner)
        _ = begun.wait()
        let wall = Stopwatch(.wall), processor = Stopwatch(.processor)
        let good = done.wait(), seconds = wall.seconds, used = processor.nanoseconds
        let counts: [Result.Figure] = [.init("n", .count(operations)), .init("good", .count(good))]
        return Result(
            workload: "direct",
            explanation: "reads without an app's queue",
            figures: counts + rates(of: operations, in: seconds, using: used),
            isGood: good == operations
        )
    }

    /// Returns the wall time, the operations per second, and the processor time per operation.
    ///
    /// `processor` is in nanoseconds.
    private func rates(of count: Int, in seconds: Double, using processor: Int64) -> [Result.Figure] {
        [
            .init("wall_s", .number(seconds)), .init("ops_s", .number(Double(count) / seconds)),
            .init("self_us", .number(Double(processor) / 1e3 / Double(count))),
        ]
    }

    private func measure(_ workload: PeerWorkload, on client: PeerClient, operations: Int, mtu: Int) -> Result {
        let done = Outcome<Int>(), size = workload.size(mtu: mtu)
        let count = workload == .disc ? PeerPlan.discoveries : operations
        let expected = workload == .disc ? count * (4 + PeerPlan.services * PeerPlan.characteristics) : count
        let wall = Stopwatch(.wall), processor = Stopwatch(.processor)
        client.queue.async { workload.run(on: client, count, size: size) { done.set($0) } }
        let good = done.wait(), seconds = wall.seconds, used = processor.nanoseconds
        var figures: [Result.Figure] = [
            .init("n", .count(count)), .init("good", .count(good)), .init("mtu", .count(mtu)),
        ]
        figures += rates(of: count, in: seconds, using: used)
        if workload != .disc {
            figures.append(.init("size", .count(size)))
            figures.append(.init("kB_s", .number(Double(count * size) / seconds / 1e3)))
        }
        return Result(
            workload: workload.rawValue,
            explanation: workload.explanation,
            figures: figures,
            isGood: good == expected
        )
    }

    private func failure(_ workload: String) -> Result {
        Result(workload: workload, explanation: "found no peer through \(controller)", figures: [], isGood: false)
    }

    private func host(_ address: DeviceAddress, mtu: Int) -> HostRunner {
        let configuration = Host.Configuration(
            name: "bench",
            identifierSecret: .random(in: .min ... .max),
            preferredMTU: mtu,
            staticAddress: address
        )
        let runner = HostRunner(
            Host(configuration: configuration, random: SystemRandomNumberGenerator()),
            transport: SocketTransport(to: controller)
        )
        runner.start()
        return runner
    }
}

/// A value that one thread waits for and another thread sets.
private final class Outcome<Value: Sendable>: Sendable {
    private let value = Locked<Value?>(nil)
    private let there = DispatchSemaphore(value: 0)

    func set(_ value: Value) {
        let isFirst = self.value.withLock { known in
            defer { known = known ?? value }
            return known == nil
        }
        if isFirst { there.signal() }
    }

    func wait() -> Value {
        there.wait()
        guard let value = value.withLock({ $0 }) else {
            preconditionFailure("the semaphore is signalled only when there is a value")
        }
        return value
    }
}
