import BLEHost
import BLERuntime
import BLESession
import BLESimulation
import CoreBluetooth
import CoreBluetoothExtras
import Testing

@testable import BLEDaemon

@Suite("Alerts of apps that share a radio", .timeLimit(.minutes(30)))
struct AlertTests {
    /// Whoever shows alerts, and what it has shown.
    private final class Agent: Sendable {
        let shown: AsyncStream<BluetoothAlerts.Alert>
        private let alerts: BluetoothAlerts
        private let counter: Counter

        private final class Counter: Sendable {
            let count = Locked(0)
        }

        var count: Int { counter.count.withLock(\.self) }

        init(at path: String) {
            let (shown, continuation) = AsyncStream.makeStream(of: BluetoothAlerts.Alert.self)
            let counter = Counter()
            alerts = Bluetooth.$link.withValue(DaemonLink(to: path, radio: "")) {
                BluetoothAlerts { alert in
                    counter.count.withLock { $0 += 1 }
                    continuation.yield(alert)
                }
            }
            (self.shown, self.counter) = (shown, counter)
        }

        func next() async throws -> BluetoothAlerts.Alert {
            for await alert in shown { return alert }
            throw CancellationError()
        }
    }

    /// A daemon with a device that notifies, and what calls `body` with it and with the values of an app that wants its
    /// user to know of them while it sleeps.
    private func listen<Result>(
        _ body: (DaemonBench, CBPeripheral, AsyncThrowingStream<Data, any Error>) async throws -> Result
    ) async throws -> Result {
        let values = SimulatedPeripheral.Notifications(every: .milliseconds(20), [[1], [2]])
        let services: [SimulatedPeripheral.Service] = [.init("180D", [.init("2A37", [.notify], notifies: values)])]
        let bench = try DaemonBench(Scenario(peripherals: [SimulatedPeripheral(name: "Belt", services: services)]))
        let central = bench.central()
        try await central.poweredOn()
        for await discovery in central.discoveries() {
            let belt = discovery.peripheral
            central.connect(belt, options: [CBConnectPeripheralOptionNotifyOnNotificationKey: true])
            try await waiting { belt.state == .connected }
            let found = try #require(try await belt.findServices([CBUUID(string: "180D")]).first)
            let values = try await belt.findCharacteristics([CBUUID(string: "2A37")], of: found)
            let result = try await body(bench, belt, belt.values(of: try #require(values.first)))
            withExtendedLifetime(central) {}
            return result
        }
        throw CancellationError()
    }

    private func move(_ bench: DaemonBench, to phase: AppPhase) throws {
        let process = UInt32(bitPattern: getpid())
        #expect(try DaemonQuery(at: bench.path).ask(.move(process: process, to: phase)) == .done)
    }

    private func journal(of bench: DaemonBench) throws -> [String] {
        guard case .journal(let lines) = try DaemonQuery(at: bench.path).ask(.journal(after: 0)) else { return [] }
        return lines.map(\.text)
    }

    @Test("The newest agent shows a sleeping app's alerts, then the previous one, then the log")
    func agents() async throws {
        try await listen { bench, belt, values in
            var values = values.makeAsyncIterator()
            var first: Agent? = Agent(at: bench.path)
            try await waiting { try bench.current.connectionCount >= 2 }
            var second: Agent? = Agent(at: bench.path)
            try await waiting { try bench.current.connectionCount >= 3 }
            for _ in 0..<5 { _ = try await values.next() }
            #expect(first?.count == 0 && second?.count == 0)
            try move(bench, to: .suspended)
            let alert = try await #require(second).next()
            #expect(alert.occasion == .notification && alert.name == "Belt" && alert.identifier == belt.identifier)
            #expect(alert.text == "\(alert.app) received a notification from “Belt”." && !alert.app.contains("/"))
            #expect(first?.count == 0, "two agents were told of one thing")
            #expect(try !journal(of: bench).contains { $0.hasPrefix("alert: ") })
            second = nil
            #expect(try await first?.next().occasion == .notification)
            first = nil
            try await waiting { try journal(of: bench).contains("alert: \(alert.text)") }
        }
    }

    @Test("An app that is awake receives the event itself, without an alert")
    func awake() async throws {
        try await listen { bench, _, values in
            var values = values.makeAsyncIterator()
            let agent = Agent(at: bench.path)
            try await waiting { try bench.current.connectionCount >= 2 }
            try move(bench, to: .suspended)
            _ = try await agent.next()
            try move(bench, to: .foreground)
            // What was said before is heard of when a link of another app has come and gone.
            let other = bench.central()
            try await other.poweredOn()
            let shown = agent.count
            for _ in 0..<20 { _ = try await values.next() }
            #expect(agent.count <= shown + 1)
        }
    }
}
