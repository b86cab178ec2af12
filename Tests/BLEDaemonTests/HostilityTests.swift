import BLEHost
import BLERuntime
import BLESession
import BLEWire
import CoreBluetooth
import Glibc
import Testing

@testable import BLEDaemon

@Suite("The daemon and malicious programs", .timeLimit(.minutes(30)))
struct HostilityTests {
    private func reason(of messages: [DaemonMessage]) -> Refusal.Reason? {
        if case .refused(let refusal)? = messages.last { refusal.reason } else { nil }
    }

    @Test(
        "An invalid message is refused with the reason",
        arguments: [
            [0xFF, 0xFF, 0xFF, 0xFF], [1, 0, 0, 0, 99], [4, 0, 0, 0, 1, 0, 0, 0], [0, 0, 0, 0],
            Array("GET / HTTP/1.1\r\n\r\n".utf8),
        ] as [[UInt8]]
    )
    func garbage(octets: [UInt8]) async throws {
        let bench = try DaemonBench(), app = try RawApp(at: bench.path)
        app.say(octets)
        let messages = try await app.listen()
        #expect(reason(of: messages) == .malformed)
    }

    @Test("A program that stays silent is disconnected")
    func silence() async throws {
        let bench = try DaemonBench(limits: .init(greeting: .milliseconds(50)))
        let messages = try await RawApp(at: bench.path).listen()
        #expect(reason(of: messages) == .malformed)
    }

    @Test("Too many outstanding requests end the session, and other sessions go on")
    func flood() async throws {
        let bench = try DaemonBench(), central = bench.central()
        await central.reach(.poweredOn)
        let app = try RawApp(at: bench.path)
        app.say(.hello(Hello()))
        var writer = FrameWriter(), octets: [UInt8] = []
        for number in 1...5_000 as ClosedRange<UInt32> { _ = writer.write(AppMessage.request(number, .stopScan)) }
        writer.take { octets = [UInt8](copying: $0) }
        app.say(octets)
        let messages = try await app.listen()
        #expect(reason(of: messages) == .congested)
        #expect(central.state == .poweredOn)
    }

    /// Has a host say more to an app that reads nothing than is held for it.
    private func overfill(_ bench: DaemonBench, _ host: ScriptedHost) async throws -> RawApp {
        let app = try RawApp(at: bench.path), value = [UInt8](repeating: 1, count: 50_000)
        app.say(.hello(Hello()))
        _ = try await app.listen { if case .event(.stateChanged) = $0 { true } else { false } }
        for _ in 0..<200 {
            host.say(.peer(PeerIdentifier(rawValue: 1), .valueNotified(AttributeHandle(wire: 3), value)))
            _ = try bench.current.connectionCount
        }
        return app
    }

    @Test("An app that falls behind receives the reason why its session ended, and not the whole backlog")
    func unread() async throws {
        let host = ScriptedHost()
        let bench = try DaemonBench(Radios([("radio", host)]), limits: .init(closing: .seconds(3_600)))
        let messages = try await overfill(bench, host).listen()
        #expect(reason(of: messages) == .congested)
        #expect(messages.count < 50)
    }

    @Test("A rejected app that does not read the reason is disconnected after a while")
    func closing() async throws {
        let host = ScriptedHost()
        let bench = try DaemonBench(Radios([("radio", host)]), limits: .init(closing: .milliseconds(50)))
        let app = try await overfill(bench, host)
        try await waiting { try bench.current.connectionCount == 0 }
        withExtendedLifetime(app) {}
    }

    @Test("The daemon serves no more programs than the limit, and has room again when some have left")
    func crowd() async throws {
        let bench = try DaemonBench(limits: .init(connections: 20, connectionsOfUser: 10))
        var apps: [RawApp] = []
        for _ in 0..<10 {
            apps.append(try RawApp(at: bench.path))
            apps.last?.say(.hello(Hello()))
        }
        try await waiting { try bench.current.connectionCount >= 10 }
        let messages = try await RawApp(at: bench.path).listen()
        #expect(reason(of: messages) == .tooMany)
        apps = []
        try await waiting { try bench.current.connectionCount == 0 }
        let next = try RawApp(at: bench.path)
        next.say(.hello(Hello()))
        next.say(.close)
        guard case .welcome? = try await next.listen().first else {
            Issue.record("there is no room")
            return
        }
    }

    @Test("Programs that connect too quickly wait, and all of them are served")
    func pace() async throws {
        let bench = try DaemonBench(limits: .init(acceptRate: 1))
        let apps = try (0..<20).map { _ in try RawApp(at: bench.path) }
        for app in apps.reversed() {
            app.say(.hello(Hello()))
            app.say(.close)
        }
        for app in apps {
            guard case .welcome? = try await app.listen().first else {
                Issue.record("an app is not served")
                return
            }
        }
    }

    @Test("A user that connects too quickly is refused, and is served again later")
    func rate() async throws {
        let bench = try DaemonBench(limits: .init(acceptRate: 1))
        var apps: [RawApp] = [], refused = 0
        while refused == 0 {
            apps = try (0..<200).map { _ in try RawApp(at: bench.path) }
            for app in apps { app.say(.hello(Hello())) }
            for app in apps {
                let first = try await app.listen { _ in true }
                if reason(of: first) == .tooMany { refused += 1 }
            }
        }
        apps = []
        try await waiting { try bench.current.connectionCount == 0 }
        let central = bench.central()
        await central.reach(.poweredOn)
    }

    @Test("All sessions that connect while the daemon is busy are served, despite the limit for silent programs")
    func rush() async throws {
        let host = ScriptedHost(), isFree = DispatchSemaphore(value: 0), isBusy = Locked(false)
        let limits = Daemon.Limits(connectionsOfProcess: 64)
        let bench = try DaemonBench(Radios([("scripted", host)]), limits: limits)
        host.whenAsked {
            isBusy.withLock { $0 = true }
            isFree.wait()
        }
        let first = try RawApp(at: bench.path, saying: .hello(Hello()))
        first.say(.request(1, .scan(ScanRequest())))
        try await waiting { isBusy.withLock { $0 } }
        let apps = try (0..<48).map { _ in try RawApp(at: bench.path, saying: .hello(Hello())) }
        isFree.signal()
        for app in apps {
            let messages = try await app.listen { _ in true }
            guard case .welcome? = messages.first else {
                Issue.record("\(messages)")
                return
            }
        }
        withExtendedLifetime(first) {}
    }

    @Test("Programs that do not finish the greeting are limited in number, and do not displace those that have")
    func strangers() async throws {
        // None may be sent away for its silence before the last has come.
        let bench = try DaemonBench(limits: .init(connectionsOfProcess: 64, greeting: .seconds(3_600)))
        let central = bench.central()
        await central.reach(.poweredOn)
        var strangers: [RawApp] = []
        for _ in 0..<32 {
            strangers.append(try RawApp(at: bench.path))
            strangers.last?.say([20, 0, 0, 0, 1, 0])
        }
        try await waiting { try bench.current.connectionCount >= 33 }
        let messages = try await RawApp(at: bench.path).listen()
        #expect(reason(of: messages) == .tooMany)
        #expect(central.state == .poweredOn)
        strangers = []
        try await waiting { try bench.current.connectionCount <= 1 }
        let other = bench.central()
        await other.reach(.poweredOn)
    }

    @Test("Many sessions with long identifiers and many links are described in one message")
    func descriptions() async throws {
        let bench = try DaemonBench(limits: .init(connectionsOfProcess: 100, acceptRate: 100))
        let identifier = String(repeating: "i", count: 16_000)
        var apps: [RawApp] = []
        for _ in 0..<70 {
            let app = try RawApp(at: bench.path, saying: .hello(Hello(.central, restoring: identifier)))
            _ = try await app.listen { if case .welcome = $0 { true } else { false } }
            apps.append(app)
        }
        guard case .apps(let facts) = try DaemonQuery(at: bench.path).ask(.apps) else {
            Issue.record("the question is not answered")
            return
        }
        #expect(facts.count == 70)
        #expect(facts.allSatisfy { $0.restoreIdentifier == String(identifier.prefix(240)) })
    }

    @Test("Links that do not fit into an answer are left out, in equal parts", arguments: [1, 70, 768])
    func links(count: Int) {
        var info = SessionInfo()
        info.program = String(repeating: "p", count: 240)
        info.restoreIdentifier = String(repeating: "i", count: 240)
        let link = SessionInfo.Link(peer: PeerIdentifier(rawValue: 1), name: String(repeating: "n", count: 248))
        info.links = Array(repeating: link, count: SessionDescription.mostLinks)
        guard case .apps(let facts) = Answer.apps(fitting: Array(repeating: info, count: count)) else { return }
        #expect(Answer.apps(facts).encoded.count <= 900_000)
        #expect(facts.count == count && Set(facts.map(\.links.count)).count == 1)
        #expect(facts.first?.links.isEmpty == false)
        #expect(count > 1 || facts.first?.links.count == SessionDescription.mostLinks)
    }

    @Test("Silent programs of four users do not keep out a fifth user", .enabled(if: geteuid() == 0))
    func silentUsers() async {
        // The user ID applies to the whole process.
        await #expect(processExitsWith: .success) {
            let bench = try DaemonBench(limits: .init(connectionsOfProcess: 512, greeting: .seconds(3_600)))
            try #require(chmod(String(bench.path.dropLast("/socket".count)), 0o755) == 0)
            func connect(as user: uid_t) throws -> RawApp {
                try #require(seteuid(user) == 0)
                defer { seteuid(0) }
                return try RawApp(at: bench.path)
            }
            var silent: [RawApp] = []
            for user in 4_001...4_004 as ClosedRange<uid_t> {
                for _ in 0..<32 { silent.append(try connect(as: user)) }
                try await waiting { try bench.current.connectionCount == silent.count }
            }
            let app = try connect(as: 4_005)
            app.say(.hello(Hello()))
            guard case .welcome? = try await app.listen(until: { _ in true }).first else { throw Failure.notFound }
            guard case .refused(let refusal)? = try await silent[0].listen().last, refusal.reason == .tooMany else {
                throw Failure.notFound
            }
            try #require(try bench.current.connectionCount == silent.count)
        }
    }

    @Test("A second daemon on the same socket is refused, and one after a crash takes over the socket")
    func place() async throws {
        let bench = try DaemonBench()
        let second = Daemon(Radios([("none", UnsupportedLink())]))
        #expect(throws: TransportError.self) { try second.listen(at: bench.path) }
        bench.stop()
        #expect(DaemonSocket.isSocket(bench.path))
        try second.listen(at: bench.path)
        second.stop()
    }
}
