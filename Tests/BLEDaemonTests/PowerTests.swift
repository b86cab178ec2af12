import BLEHost
import BLERuntime
import BLESession
import CoreBluetooth
import Testing

@testable import BLEDaemon

@Suite("Switching off Bluetooth and ending links for all apps", .timeLimit(.minutes(30)))
struct PowerTests {
    private func ask(_ bench: DaemonBench, _ question: Question) throws -> Answer {
        try DaemonQuery(at: bench.path).ask(question)
    }

    /// An app that has Bluetooth, kept under the identifier "app".
    private func app(on bench: DaemonBench, hears state: HostState = .poweredOn) async throws -> RawApp {
        let app = try RawApp(at: bench.path)
        app.say(.hello(Hello(.central, restoring: "app")))
        _ = try await app.listen { $0 == .event(.stateChanged(state)) }
        return app
    }

    /// Connects to the first peer that the app finds.
    private func connect(_ app: RawApp) async throws -> PeerIdentifier {
        app.say(.request(1, .scan(ScanRequest())))
        var found: PeerIdentifier?
        _ = try await app.listen { message in
            if case .event(.discovered(let report)) = message { found = found ?? report.peer }
            return found != nil
        }
        let peer = try #require(found)
        app.say(.request(2, .stopScan))
        app.say(.request(3, .connect(peer, ConnectRequest())))
        _ = try await app.listen { if case .event(.connected(peer, _)) = $0 { true } else { false } }
        return peer
    }

    @Test("Bluetooth stays off for all apps, even after a daemon restart, until it is switched on")
    func power() async throws {
        let bench = try DaemonBench()
        let first = try await app(on: bench)
        #expect(try ask(bench, .radios) == .radios([RadioInfo(name: "world", isOn: true)]))
        #expect(try ask(bench, .power(radio: nil, isOn: false)) == .done)
        _ = try await first.listen { $0 == .event(.stateChanged(.poweredOff)) }
        first.say(.close)
        bench.stop()
        try bench.start()
        #expect(try ask(bench, .radios) == .radios([RadioInfo(name: "world", isOn: false)]))
        let second = try await app(on: bench, hears: .poweredOff)
        #expect(try ask(bench, .power(radio: "world", isOn: true)) == .done)
        _ = try await second.listen { $0 == .event(.stateChanged(.poweredOn)) }
        #expect(try ask(bench, .radios) == .radios([RadioInfo(name: "world", isOn: true)]))
    }

    @Test("Switching a missing radio fails, and the error lists the existing ones")
    func unknownRadio() async throws {
        let bench = try DaemonBench()
        guard case .refused(let refusal) = try ask(bench, .power(radio: "hci:9", isOn: false)) else {
            throw Failure.notFound
        }
        #expect(refusal.reason == .noRadio && refusal.sentence.contains("hci:9") && refusal.sentence.contains("world"))
        #expect(try ask(bench, .radios) == .radios([RadioInfo(name: "world", isOn: true)]))
    }

    @Test("Switching off Bluetooth removes the whole session of an app that has ended")
    func forgotten() async throws {
        let bench = try DaemonBench()
        var first: RawApp? = try await app(on: bench)
        _ = try await connect(#require(first))
        first = nil
        try await waiting { try bench.current.waitingCount >= 1 }
        _ = try ask(bench, .power(radio: nil, isOn: false))
        try await waiting { try bench.current.waitingCount == 0 }
        _ = try ask(bench, .power(radio: nil, isOn: true))
        let next = try RawApp(at: bench.path)
        next.say(.hello(Hello(.central, restoring: "app")))
        let messages = try await next.listen { $0 == .event(.stateChanged(.poweredOn)) }
        #expect(!messages.contains { if case .event(.restored) = $0 { true } else { false } })
    }

    @Test(
        "A link that the user ends also ends for its app, whether the app runs or is waiting to be restored",
        arguments: [true, false]
    )
    func links(isThere: Bool) async throws {
        let bench = try DaemonBench()
        var first: RawApp? = try await app(on: bench)
        let peer = try await connect(#require(first)), other = PeerIdentifier(rawValue: 1)
        if !isThere {
            first = nil
            try await waiting { try bench.current.waitingCount >= 1 }
        }
        guard case .refused = try ask(bench, .endLinks(to: other)) else { throw Failure.notFound }
        #expect(try ask(bench, .endLinks(to: isThere ? peer : nil)) == .done)
        let listener = try isThere ? #require(first) : RawApp(at: bench.path)
        if !isThere { listener.say(.hello(Hello(.central, restoring: "app"))) }
        _ = try await listener.listen { if case .event(.disconnected(peer, _, _)) = $0 { true } else { false } }
        guard case .refused = try ask(bench, .endLinks(to: nil)) else { throw Failure.notFound }
    }
}
