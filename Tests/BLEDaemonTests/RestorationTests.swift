import BLEHost
import BLERuntime
import BLESession
import BLEWire
import CoreBluetooth
import Glibc
import Testing

@testable import BLEDaemon

@Suite("Sessions that outlive their apps", .timeLimit(.minutes(30)))
struct RestorationTests {
    /// A central's app with the restore identifier "app" that has Bluetooth.
    private func launch(
        on bench: DaemonBench,
        saying description: AppDescription? = nil,
        heard: ((DaemonMessage) -> Void)? = nil
    ) async throws -> RawApp {
        let app = try RawApp(at: bench.path)
        app.say(.hello(Hello(.central, restoring: "app", describing: description)))
        for message in try await app.listen(until: { $0 == .event(.stateChanged(.poweredOn)) }) { heard?(message) }
        return app
    }

    /// Has the app scan for everything, and returns the first peer with this name.
    private func find(_ name: String, by app: RawApp) async throws -> PeerIdentifier {
        app.say(.request(1, .scan(ScanRequest())))
        let messages = try await app.listen { message in
            if case .event(.discovered(let report)) = message { report.name == name } else { false }
        }
        for case .event(.discovered(let report)) in messages where report.name == name { return report.peer }
        throw Failure.notFound
    }

    /// An app that is connected to the heart rate sensor, and scans.
    private func connectedApp(
        on bench: DaemonBench,
        saying description: AppDescription? = nil
    ) async throws -> (RawApp, PeerIdentifier) {
        let app = try await launch(on: bench, saying: description), peer = try await find("Heart Rate", by: app)
        app.say(.request(2, .connect(peer, ConnectRequest())))
        _ = try await app.listen { if case .event(.connected(peer, _)) = $0 { true } else { false } }
        return (app, peer)
    }

    /// Has an app that is connected subscribe to a characteristic; its next request is the fifth.
    private func subscribe(to type: UInt16, of peer: PeerIdentifier, by app: RawApp) async throws {
        app.say(.request(3, .peer(peer, .discoverCharacteristics(in: .all, only: [.short(type)]))))
        let messages = try await app.listen { message in
            if case .event(.peer(peer, .characteristicsDiscovered, _)) = message { true } else { false }
        }
        for case .event(.peer(_, .characteristicsDiscovered(_, .success(let found)), _)) in messages {
            let characteristic = try #require(found.first)
            let range = AttributeHandleRange(AttributeHandle(wire: characteristic.value.wire + 1), characteristic.end)
            app.say(.request(4, .peer(peer, .subscribe(.notifications, to: characteristic.value, in: range))))
        }
        _ = try await app.listen { if case .event(.peer(peer, .subscriptionChanged, _)) = $0 { true } else { false } }
    }

    private func restored(_ messages: [DaemonMessage]) -> PreservedCentral? {
        for case .event(.restored(.central(let state))) in messages { return state }
        return nil
    }

    @Test("An app that exits without closing finds its scan and its connection again")
    func crash() async throws {
        let bench = try DaemonBench()
        var (app, peer): (RawApp?, PeerIdentifier) = try await connectedApp(on: bench)
        _ = app
        app = nil
        try await waiting { try bench.current.waitingCount >= 1 }
        var messages: [DaemonMessage] = []
        let next = try await launch(on: bench) { messages.append($0) }
        let state = try #require(restored(messages))
        #expect(state.scan == ScanRequest())
        #expect(state.peers.map(\.peer) == [peer])
        #expect(state.peers.first?.mtu != nil)
        #expect(messages.first.map { if case .welcome = $0 { true } else { false } } == true)
        guard case .apps(let apps) = try DaemonQuery(at: bench.path).ask(.apps) else { throw Failure.notFound }
        #expect(apps.map { $0.links.map(\.peer) } == [[peer]])
        #expect(apps.map(\.use.isScanning) == [true] && apps.map(\.use.requests) == [0])
        next.say(.request(1, .peer(peer, .readRSSI)))
        let answers = try await next.listen { if case .event(.peer(peer, .rssiRead, _)) = $0 { true } else { false } }
        #expect(answers.contains { if case .event(.peer(peer, .rssiRead(.success), _)) = $0 { true } else { false } })
        #expect(try bench.current.waitingCount == 0)
    }

    @Test("An app that names the first radio finds the session that it opened without naming one, and vice versa")
    func radioNames() async throws {
        for (first, second) in [("", "world"), ("world", "")] {
            let bench = try DaemonBench(), peer = PeerIdentifier(rawValue: 7)
            var app: RawApp? = try RawApp(at: bench.path)
            app?.say(.hello(Hello(.central, restoring: "app", radio: first)))
            app?.say(.request(1, .connect(peer, ConnectRequest())))
            app = nil
            try await waiting { try bench.current.waitingCount >= 1 }
            let next = try RawApp(at: bench.path)
            next.say(.hello(Hello(.central, restoring: "app", radio: second)))
            let messages = try await next.listen { $0 == .event(.stateChanged(.poweredOn)) }
            #expect(restored(messages)?.peers.map(\.peer) == [peer])
        }
    }

    @Test(
        "The radio of a daemon that was started without radios has two names",
        arguments: [
            ("hci:first", "hci:0", "hci:first"), ("hci:1", "hci:first", "hci:1"), ("hci:1", "hci:0", nil),
            ("world", "hci:first", nil), ("hci:first", "world", nil),
        ]
    )
    func defaultRadio(name: String, asked: String, answer: String?) {
        #expect(Radios([(name, ScriptedHost())]).name(of: asked) == answer)
    }

    @Test("A launch for one radio names only the sessions of that radio")
    func launchForRadio() async throws {
        let variables = Locked<[[String: String]]>([]), hosts = [ScriptedHost(), ScriptedHost()]
        let launcher = AppLauncher { _, _ in
            try? JSONDecoder().decode(
                AppManifest.self,
                from: Data(#"{"UIBackgroundModes": ["bluetooth-central"], "LaunchCommand": ["/bin/app"]}"#.utf8)
            )
        } run: { _, told, _ in
            variables.withLock { $0.append(told) }
        }
        let bench = try DaemonBench(Radios([("one", hosts[0]), ("two", hosts[1])]), launcher: launcher)
        for (identifier, radio) in [("first", ""), ("second", "one"), ("other", "two")] {
            let app = try RawApp(at: bench.path)
            app.say(.hello(Hello(.central, restoring: identifier, radio: radio)))
            app.say(.request(1, .scan(ScanRequest())))
            _ = try await app.listen { if case .taken = $0 { true } else { false } }
        }
        try await waiting { try bench.current.waitingCount >= 3 }
        hosts[0].say(.discovered(AdvertisementReport()))
        try await waiting { !variables.withLock { $0.isEmpty } }
        #expect(variables.withLock { $0.map { $0["BLUETOOTH_RESTORE_CENTRALS"] } } == ["first,second"])
    }

    @Test("An app that exits just before its radio is lost misses the event, and its requests continue")
    func endBeforeRadio() async throws {
        let host = ScriptedHost(), bench = try DaemonBench(Radios([("scripted", host)]))
        let app = try await launch(on: bench)
        host.whenAsked { [end = app.ending] in
            end()
            host.say(.stateChanged(.resetting))
        }
        app.say(.request(1, .scan(ScanRequest())))
        try await waiting { try bench.current.waitingCount >= 1 }
        guard case .apps(let apps) = try DaemonQuery(at: bench.path).ask(.apps) else { throw Failure.notFound }
        try #require(apps.map(\.use.isScanning) == [true])
        host.say(.stateChanged(.poweredOn))
        try await waiting { host.scans >= 2 }
    }

    @Test("An app that closes its session finds nothing of it")
    func close() async throws {
        let bench = try DaemonBench()
        let (app, _) = try await connectedApp(on: bench)
        app.say(.close)
        _ = try await app.listen()
        var messages: [DaemonMessage] = []
        _ = try await launch(on: bench) { messages.append($0) }
        #expect(restored(messages) == nil)
    }

    @Test("Requests that an app sends right before it exits are carried out")
    func lastWords() async throws {
        let bench = try DaemonBench(), peer = PeerIdentifier(rawValue: 7)
        var app: RawApp? = try RawApp(at: bench.path)
        app?.say(.hello(Hello(.central, restoring: "app")))
        for number in 1...200 as ClosedRange<UInt32> { app?.say(.request(number, .stopScan)) }
        app?.say(.request(201, .connect(peer, ConnectRequest())))
        app = nil
        try await waiting { try bench.current.waitingCount >= 1 }
        var messages: [DaemonMessage] = []
        let next = try await launch(on: bench) { messages.append($0) }
        _ = next
        #expect(restored(messages)?.peers.map(\.peer) == [peer])
    }

    @Test("A session outlives the daemon: the next daemon reconnects and informs the app")
    func daemonRestart() async throws {
        let bench = try DaemonBench()
        let (app, peer) = try await connectedApp(on: bench)
        bench.stop()
        _ = try await app.listen()
        try bench.start()
        #expect(try bench.current.waitingCount == 1)
        let next = try RawApp(at: bench.path)
        next.say(.hello(Hello(.central, restoring: "app")))
        let messages = try await next.listen { if case .event(.connected(peer, _)) = $0 { true } else { false } }
        let state = try #require(restored(messages))
        #expect(state.scan == ScanRequest() && state.peers.map(\.peer) == [peer] && state.peers.first?.mtu == nil)
    }

    @Test("An app that kept running starts fresh with the next daemon")
    func continued() async throws {
        let bench = try DaemonBench()
        _ = try await connectedApp(on: bench)
        bench.stop()
        try bench.start()
        let app = try RawApp(at: bench.path)
        app.say(.hello(Hello(.central, restoring: "app", isContinued: true)))
        let messages = try await app.listen { $0 == .event(.stateChanged(.poweredOn)) }
        #expect(restored(messages) == nil)
        #expect(try bench.current.waitingCount == 0)
    }

    @Test("Two processes with one identifier have separate sessions, and the first one's is kept")
    func twice() async throws {
        let bench = try DaemonBench()
        var first: RawApp? = try await connectedApp(on: bench).0
        var messages: [DaemonMessage] = []
        let second = try await launch(on: bench) { messages.append($0) }
        #expect(restored(messages) == nil)
        _ = first
        first = nil
        try await waiting { try bench.current.waitingCount >= 1 }
        second.say(.close)
        _ = try await second.listen()
        #expect(try bench.current.waitingCount == 1)
    }

    @Test("An event for an app that declares a background mode launches it once, with the identifiers to restore")
    func launching() async throws {
        let runs = Locked<[([String], [String: String])]>([])
        let manifest = #"{"UIBackgroundModes": ["bluetooth-central"], "LaunchCommand": ["/bin/app", "--again"]}"#
        let launcher = AppLauncher { _, _ in
            try? JSONDecoder().decode(AppManifest.self, from: Data(manifest.utf8))
        } run: { command, variables, _ in
            runs.withLock { $0.append((command, variables)) }
        }
        let bench = try DaemonBench(launcher: launcher)
        var (app, peer): (RawApp?, PeerIdentifier) = try await connectedApp(on: bench)
        try await subscribe(to: 0x2A37, of: peer, by: #require(app))
        app = nil
        try await waiting { !runs.withLock { $0.isEmpty } }
        var messages: [DaemonMessage] = []
        let next = try await launch(on: bench) { messages.append($0) }
        messages += try await next.listen {
            if case .event(.peer(peer, .valueNotified, _)) = $0 { true } else { false }
        }
        let (command, variables) = try #require(runs.withLock { $0.first })
        #expect(command == ["/bin/app", "--again"])
        #expect(variables == ["BLUETOOTH_RESTORE_CENTRALS": "app", "BLUETOOTH_RESTORE_PERIPHERALS": ""])
        #expect(runs.withLock { $0.count } == 1)
        #expect(restored(messages)?.peers.map(\.peer) == [peer])
    }

    /// Calls `body` with a bench, the description of an app with a unit, the connected peer of the app, and the launch
    /// file of the unit, after the app has ended and the daemon has written the file.
    private func withLaunchFile(
        _ body: (DaemonBench, AppDescription, PeerIdentifier, _ file: String) async throws -> Void
    ) async throws {
        let place = FileManager.default.temporaryDirectory.path + "/launches-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: place) }
        let launcher = AppLauncher(telling: place) { _, _ in
            nil
        } run: { (_, _, _) throws(LaunchFailure) in
            throw LaunchFailure("a unit that only the app names is not started")
        }
        let bench = try DaemonBench(launcher: launcher)
        let description = AppDescription(program: "/bin/app", unit: "app.service")
        var (app, peer): (RawApp?, PeerIdentifier) = try await connectedApp(on: bench, saying: description)
        try await subscribe(to: 0x2A37, of: peer, by: #require(app))
        let file = place + "/\(geteuid())/app.service"
        #expect(access(file, F_OK) != 0)
        app = nil
        try await waiting { access(file, F_OK) == 0 }
        try await body(bench, description, peer, file)
    }

    @Test("A unit that an app names is triggered by events after the app has ended, until the app is back")
    func unit() async throws {
        try await withLaunchFile { bench, description, peer, file in
            let told = FileManager.default.contents(atPath: file).map { String(decoding: $0, as: UTF8.self) }
            #expect(told == "BLUETOOTH_RESTORE_CENTRALS=\"app\"\nBLUETOOTH_RESTORE_PERIPHERALS=\"\"\n")
            var messages: [DaemonMessage] = []
            _ = try await launch(on: bench, saying: description) { messages.append($0) }
            #expect(restored(messages)?.peers.map(\.peer) == [peer])
            #expect(access(file, F_OK) != 0)
        }
    }

    @Test("A unit is no longer triggered when the session to restore has ended")
    func endedSession() async throws {
        try await withLaunchFile { bench, _, _, file in
            #expect(try DaemonQuery(at: bench.path).ask(.power(radio: nil, isOn: false)) == .done)
            try await waiting { try bench.current.waitingCount == 0 }
            try await waiting { access(file, F_OK) != 0 }
        }
    }

    @Test("A launched program receives the environment variables and has no signals blocked")
    func spawning() async throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        let place = "/proc/self/fd/\(ends[1])"
        let script = "echo $BLUETOOTH_RESTORE_CENTRALS > \(place); grep SigBlk /proc/self/status > \(place)"
        try AppLauncher.spawn(["/bin/sh", "-c", script], ["BLUETOOTH_RESTORE_CENTRALS": "one,two"])
        Glibc.close(ends[1])
        var text = "", buffer = [UInt8](repeating: 0, count: 256)
        while case let count = read(ends[0], &buffer, buffer.count), count > 0 {
            text += String(decoding: buffer[..<count], as: UTF8.self)
        }
        Glibc.close(ends[0])
        #expect(text == "one,two\nSigBlk:\t0000000000000000\n")
        #expect(throws: LaunchFailure("No such file or directory")) {
            try AppLauncher.spawn(["/nonexistent/program"], [:])
        }
    }
}
