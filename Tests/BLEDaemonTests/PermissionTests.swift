import BLEHost
import BLERuntime
import BLESession
import BLEWire
import CoreBluetoothExtras
import Glibc
import Testing

@testable import BLEDaemon

@Suite("Apps under a policy", .timeLimit(.minutes(30)))
struct PermissionTests {
    private func policy(_ rules: String) throws -> AppPolicy {
        try AppPolicy(json: Data(#"{"rules": [\#(rules)]}"#.utf8), origin: "the policy")
    }

    @Test("A running app is notified when it loses and when it regains permission to use Bluetooth")
    func change() async throws {
        let bench = try DaemonBench(), central = bench.central()
        await central.reach(.poweredOn)
        try bench.current.apply(try policy(#"{"user": 4711}"#))
        await central.reach(.unauthorized)
        let link = DaemonLink(to: bench.path)
        #expect(Bluetooth.$link.withValue(link) { CBManager.authorization } == .denied)
        try bench.current.apply(try policy("{}"))
        #expect(Bluetooth.$link.withValue(link) { CBManager.authorization } == .allowedAlways)
        await central.reach(.poweredOn)
    }

    @Test("An app whose policy names services discovers only those, and may not use others by their handles")
    func services() async throws {
        let bench = try DaemonBench(under: try policy(#"{"services": ["180F"]}"#)), central = bench.central()
        try await central.poweredOn()
        for await discovery in central.discoveries() where discovery.peripheral.name == "Heart Rate" {
            try await central.connect(discovery.peripheral, timeout: .seconds(30))
            let services = try await discovery.peripheral.findServices(nil)
            #expect(services.map(\.uuid) == [CBUUID(string: "180F")])
            let found = try await discovery.peripheral.findCharacteristics(nil, of: try #require(services.first))
            #expect(try await discovery.peripheral.value(of: try #require(found.first)).count == 1)
            break
        }
    }

    @Test("Advertisements of services outside the policy are still reported to the app")
    func advertisements() async throws {
        let bench = try DaemonBench(under: try policy(#"{"services": ["FFE0"]}"#)), app = try RawApp(at: bench.path)
        app.say(.hello(Hello()))
        app.say(.request(1, .scan(ScanRequest(services: [.short(0x180D)]))))
        let messages = try await app.listen { if case .event(.discovered) = $0 { true } else { false } }
        guard case .event(.discovered(let report))? = messages.last else {
            Issue.record("nothing was discovered")
            return
        }
        #expect(report.name == "Heart Rate")
    }

    @Test("Values of a service that a new policy no longer names stop, and others continue")
    func narrower() async throws {
        let host = ScriptedHost(), bench = try DaemonBench(Radios([("radio", host)]))
        let app = try RawApp(at: bench.path), peer = PeerIdentifier(rawValue: 1)
        func range(_ start: UInt16, _ end: UInt16) throws -> AttributeHandleRange {
            try #require(AttributeHandleRange(AttributeHandle(wire: start), AttributeHandle(wire: end)))
        }
        let services = [
            DiscoveredService(uuid: .short(0x180D), range: try range(6, 9), isPrimary: true),
            DiscoveredService(uuid: .short(0x180F), range: try range(10, 14), isPrimary: true),
        ]
        let beats = AttributeHandle(wire: 7), level = AttributeHandle(wire: 12)
        app.say(.hello(Hello()))
        _ = try await app.listen { if case .event(.stateChanged) = $0 { true } else { false } }
        host.say(.connected(peer, LinkParameters(mtu: 23)))
        for event: PeerEvent in [
            .servicesDiscovered(.success(services)), .subscriptionChanged(beats, .notifications, nil),
            .subscriptionChanged(level, .notifications, nil), .valueNotified(beats, [1]),
        ] {
            host.say(.peer(peer, event))
        }
        _ = try await app.listen { $0 == .event(.peer(peer, .valueNotified(beats, [1]))) }
        try bench.current.apply(try policy(#"{"services": ["180F"]}"#))
        host.say(.peer(peer, .valueNotified(beats, [2])))
        host.say(.peer(peer, .valueNotified(level, [3])))
        let heard = try await app.listen { $0 == .event(.peer(peer, .valueNotified(level, [3]))) }
        #expect(heard.first == .event(.peer(peer, .servicesModified(services[0].range))))
        #expect(!heard.contains(.event(.peer(peer, .valueNotified(beats, [2])))))
        #expect(host.requests == [.peer(peer, .subscribe(.none, to: beats, in: nil))])
    }

    @Test("A host receives the policy for unattended pairing at the start and when it changes")
    func unattended() throws {
        func policy(_ unattended: String) throws -> AppPolicy {
            try AppPolicy(json: Data(#"{"rules": [{}]\#(unattended)}"#.utf8), origin: "the policy")
        }
        let host = ScriptedHost()
        let bench = try DaemonBench(Radios([("radio", host)]), under: try policy(#", "unattendedPairing": "never""#))
        try bench.current.apply(try policy(#", "unattendedPairing": "always""#))
        try bench.current.apply(try policy(""))
        let wanted: [BLEHost.UnattendedPairing?] = [.never, .always, nil]
        #expect(
            host.requests == wanted.map { ClientRequest.security(.setPolicy(BLEHost.PairingPolicy(unattended: $0))) }
        )
    }

    @Test("Requests that the policy does not allow are refused with their request numbers")
    func requests() async throws {
        let bench = try DaemonBench(under: try policy(#"{"pairing": false}"#)), app = try RawApp(at: bench.path)
        app.say(.hello(Hello()))
        app.say(.request(1, .security(.listBonds)))
        let messages = try await app.listen { if case .requestRefused = $0 { true } else { false } }
        let refusal = Refusal(.notAllowed, "rule 1 of the policy does not allow pairing")
        #expect(messages.contains(.requestRefused(1, refusal)))
    }

    @Test("Addresses are shown only to apps that may see them", arguments: [true, false])
    func addresses(areSeen: Bool) async throws {
        let bench = try DaemonBench(under: try policy(#"{"addresses": \#(areSeen)}"#)), app = try RawApp(at: bench.path)
        app.say(.hello(Hello()))
        app.say(.request(1, .scan(ScanRequest())))
        let messages = try await app.listen { if case .event(.discovered) = $0 { true } else { false } }
        guard case .event(.discovered(let report))? = messages.last else {
            Issue.record("nothing was discovered")
            return
        }
        #expect((report.address != .none) == areSeen)
    }

    @Test("A new policy ends the sessions of apps that it no longer allows")
    func kept() async throws {
        let bench = try DaemonBench()
        var app: RawApp? = try RawApp(at: bench.path)
        app?.say(.hello(Hello(.central, restoring: "app")))
        _ = try await app?.listen { $0 == .event(.stateChanged(.poweredOn)) }
        app = nil
        try await waiting { try bench.current.waitingCount >= 1 }
        try bench.current.apply(try policy("{}"))
        #expect(try bench.current.waitingCount == 1)
        try bench.current.apply(try policy(""))
        #expect(try bench.current.waitingCount == 0)
    }

    @Test("A query lists the apps and their links, and can move an app to another state")
    func questions() async throws {
        let bench = try DaemonBench(), central = bench.central(), query = DaemonQuery(at: bench.path)
        try await central.poweredOn()
        var lamp: CBPeripheral?
        for await discovery in central.discoveries() where discovery.peripheral.name == "Lamp" {
            lamp = discovery.peripheral
            try await central.connect(discovery.peripheral, timeout: .seconds(30))
            break
        }
        defer { withExtendedLifetime((central, lamp)) {} }
        let process = UInt32(bitPattern: getpid())
        #expect(try query.ask(.move(process: process, to: .background)) == .done)
        guard case .apps(let apps) = try query.ask(.apps), let app = apps.first else {
            Issue.record("no apps are told of")
            return
        }
        #expect(apps.count == 1 && app.process == process && app.role == .central && app.radio == "world")
        #expect(app.phase == .background)
        #expect(app.links.map(\.name) == ["Lamp"])
        guard case .grant(let grant) = try query.ask(.grant(process: process)) else {
            Issue.record("nobody says what the app may do")
            return
        }
        #expect(grant.origin == "no policy" && grant.roles == [.central, .peripheral, .agent])
        guard case .refused = try query.ask(.move(process: 1 << 30, to: .background)) else {
            Issue.record("nobody is moved")
            return
        }
    }

    @Test("An endless stream of queries ends the connection")
    func flood() async throws {
        let bench = try DaemonBench(), app = try RawApp(at: bench.path)
        for _ in 0..<5_000 { app.say(.question(.apps)) }
        let messages = try await app.listen()
        guard case .refused(let refusal)? = messages.last else {
            Issue.record("the connection goes on")
            return
        }
        #expect(refusal.reason == .congested)
    }
}
