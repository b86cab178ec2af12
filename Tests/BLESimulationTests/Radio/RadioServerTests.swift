import BLEHost
import BLERuntime
import BLESimulation
import Dispatch
import Synchronization
import Testing

@Suite("Radio server", .timeLimit(.minutes(10)))
struct RadioServerTests {
    /// Starts a host on its own at a controller of `server`.
    static func host(at port: UInt16, secret: UInt128) -> HostRunner {
        let runner = HostRunner(
            Host(
                configuration: Host.Configuration(name: "\(secret)", identifierSecret: secret),
                random: SystemRandomNumberGenerator()
            ),
            transport: SocketTransport(to: .tcp(host: "127.0.0.1", port: port))
        )
        runner.start()
        return runner
    }

    @Test("Two hosts on two ports find each other and exchange values")
    func meet() async throws {
        let radio = RadioServer(seed: 1)
        let ports = [
            try radio.listen(at: .tcp(host: "127.0.0.1", port: 0)),
            try radio.listen(at: .tcp(host: "127.0.0.1", port: 0)),
        ]
        let hosts = ports.enumerated().map { Self.host(at: $1, secret: UInt128($0 + 1)) }
        let server = EchoServer(on: hosts[0]), client = EchoClient(on: hosts[1], count: 10)
        await waiting(for: client) { $0.isComplete }
        #expect(server.queue.sync { server.written.count } == 10)
        for host in hosts { host.stop() }
        radio.stop()
    }

    @Test("A host that goes away leaves its peer disconnected, and may return")
    func goes() async throws {
        let radio = RadioServer(seed: 1)
        let first = try radio.listen(at: .tcp(host: "127.0.0.1", port: 0))
        let second = try radio.listen(at: .tcp(host: "127.0.0.1", port: 0))
        let serving = Self.host(at: first, secret: 1), asking = Self.host(at: second, secret: 2)
        let server = EchoServer(on: serving), client = EchoClient(on: asking, count: 1, reconnects: true)
        await waiting(for: client) { $0.isComplete }
        #expect(server.queue.sync { server.subscribers.count } == 1)
        serving.stop()
        await waiting(for: client) { $0.lostConnections == 1 }
        let again = Self.host(at: first, secret: 1)
        let returned = EchoServer(on: again)
        await waiting(for: client) { $0.connections == 2 }
        #expect(returned.queue.sync { returned.states.last } == .poweredOn)
        asking.stop()
        again.stop()
        radio.stop()
    }

    @Test("When the socket is lost the state is resetting, then unsupported, and powered on when there is one again")
    func lost() async throws {
        let radio = RadioServer(seed: 1)
        let port = try radio.listen(at: .tcp(host: "127.0.0.1", port: 0))
        let host = Self.host(at: port, secret: 1)
        let app = SeamApp()
        app.start(.central, on: host)
        await waiting(for: app) { $0.states == [.poweredOn] }
        radio.stop()
        await waiting(for: app) { $0.states == [.poweredOn, .resetting, .unsupported] }
        let again = RadioServer(seed: 1)
        try again.listen(at: .tcp(host: "127.0.0.1", port: port))
        await waiting(for: app) { $0.states == [.poweredOn, .resetting, .unsupported, .poweredOn] }
        host.stop()
        again.stop()
    }

    @Test("A port that is taken is refused")
    func taken() throws {
        let radio = RadioServer(seed: 1)
        let port = try radio.listen(at: .tcp(host: "127.0.0.1", port: 0))
        let other = RadioServer(seed: 1)
        #expect(throws: TransportError.self) { try other.listen(at: .tcp(host: "127.0.0.1", port: port)) }
        radio.stop()
    }
}
