import BLEHost
import BLERuntime
import BLESession
import BLESimulation
import BLEWire
import CoreBluetooth
import Glibc
import Testing

@testable import BLEDaemon

/// What becomes of an app that waits for something, in a world and with the daemon.
///
/// The rows are those of Apple's technical note TN3115, as docs/DAEMON.md has them.
@Suite("An app is launched again in a world as with the daemon", .timeLimit(.minutes(30)))
struct RelaunchTableTests {
    /// What the app waits for when it ends.
    enum Waiting: CaseIterable, Sendable {
        /// A connection to a device that is not there.
        case connection
        /// A device with a service.
        case discovery
        /// The end of a connection, or the next one.
        case loss
    }

    /// What becomes of the app and of Bluetooth.
    enum Fate: CaseIterable, Sendable {
        case crash
        case quitByUser
        case powerToggled
        /// The controller goes and comes back after the app has ended.
        case radioReturns
        /// The controller goes, the app ends, and the controller comes back.
        case radioReturnsToEndedApp
        case restart

        var launches: Bool {
            switch self {
            case .crash, .radioReturns, .radioReturnsToEndedApp, .restart: true
            case .quitByUser, .powerToggled: false
            }
        }

        /// Whether links end by it.
        var endsLinks: Bool { self != .crash }
    }

    private static let service = BluetoothUUID.short(0x180D)
    private static let scan = ClientRequest.scan(ScanRequest(services: [service]))

    private static func sensor() -> SimulatedPeripheral {
        SimulatedPeripheral(
            name: "Sensor",
            at: .init(x: 1),
            services: [.init("180D", [.init("2A38", [.read], value: [1])])]
        )
    }

    @Test("In a world", arguments: Waiting.allCases, Fate.allCases)
    func world(waiting: Waiting, fate: Fate) async throws {
        for seed in 0..<16 as Range<UInt64> {
            let launches = try await launchesInWorld(waiting, fate, seed)
            #expect(launches == (fate.launches ? 1 : 0), "seed \(seed)")
        }
    }

    private func launchesInWorld(_ waiting: Waiting, _ fate: Fate, _ seed: UInt64) async throws -> Int {
        let world = World(seed: seed), phone = world.machine("phone"), sensor = world.place(Self.sensor())
        let events = Locked<[ClientEvent]>([]), launches = Locked(0)
        phone.onLaunch { _ in launches.withLock { $0 += 1 } }
        let queue = DispatchQueue(label: "app")
        let session = phone.open(
            .central,
            restoring: "app",
            .each(on: queue) { event in events.withLock { $0.append(event) } }
        )
        await world.advance(by: .seconds(1))
        if waiting != .discovery {
            session.send(Self.scan)
            await world.advance(by: .seconds(5))
            session.send(.stopScan)
            let found = events.withLock { $0.compactMap(\.discoveredPeer).first }
            if waiting == .connection { world.separate(phone, sensor) }
            session.send(.connect(try #require(found), ConnectRequest()))
        } else {
            world.separate(phone, sensor)
            session.send(Self.scan)
        }
        await world.advance(by: .seconds(5))
        switch fate {
        case .crash: phone.endApps(.crash)
        case .quitByUser: phone.endApps(.quitByUser)
        case .powerToggled:
            phone.endApps(.crash)
            await world.advance(by: .seconds(5))
            phone.switchBluetoothOff()
            await world.advance(by: .seconds(5))
            phone.switchBluetoothOn()
        case .radioReturns:
            phone.endApps(.crash)
            await world.advance(by: .seconds(5))
            phone.unplugRadio()
            await world.advance(by: .seconds(5))
            phone.plugInRadio()
        case .radioReturnsToEndedApp:
            // Both in one turn: the app has not heard of it when it ends.
            phone.unplugRadio()
            phone.endApps(.crash)
            await world.advance(by: .seconds(5))
            phone.plugInRadio()
        case .restart: phone.restart()
        }
        await world.advance(by: .seconds(30))
        if waiting == .loss, !fate.endsLinks { world.separate(phone, sensor) }
        if waiting != .loss { world.rejoin(phone, sensor) }
        await world.advance(by: .seconds(60))
        withExtendedLifetime(session) {}
        return launches.withLock { $0 }
    }

    @Test("With the daemon", arguments: Waiting.allCases, Fate.allCases)
    func daemon(waiting: Waiting, fate: Fate) async throws {
        let launches = try await launchesWithDaemon(waiting, fate)
        #expect(launches == (fate.launches ? 1 : 0))
    }

    private func launchesWithDaemon(_ waiting: Waiting, _ fate: Fate) async throws -> Int {
        let world = World(seed: 1), phone = world.machine("phone"), sensor = world.place(Self.sensor())
        world.runInRealTime()
        let launches = Locked(0)
        let launcher = AppLauncher { _, _ in
            let text = #"{"UIBackgroundModes": ["bluetooth-central"], "LaunchCommand": ["/bin/app"]}"#
            return try? JSONDecoder().decode(AppManifest.self, from: Data(text.utf8))
        } run: { _, _ in
            launches.withLock { $0 += 1 }
            return true
        }
        let bench = try DaemonBench(Radios([("world", phone)]), launcher: launcher)
        // Another app, which hears of what becomes of the radio.
        let witness = try RawApp(at: bench.path)
        witness.say(.hello(Hello(.central)))
        _ = try await witness.listen { $0 == .event(.stateChanged(.poweredOn)) }
        var app: RawApp? = try await begin(waiting, on: bench, world, phone, sensor)
        switch fate {
        case .quitByUser:
            _ = try DaemonQuery(at: bench.path).ask(.quit(process: UInt32(getpid())))
            app = nil
            try await BLEDaemonTests.waiting { try bench.current.waitingCount == 0 }
        case .radioReturnsToEndedApp:
            phone.unplugRadio()
            _ = try await app?.listen { $0 == .event(.stateChanged(.resetting)) }
            fallthrough
        case .crash, .powerToggled, .radioReturns, .restart:
            app = nil
            try await BLEDaemonTests.waiting { try bench.current.waitingCount >= 1 }
        }
        switch fate {
        case .crash, .quitByUser: break
        case .powerToggled:
            phone.switchBluetoothOff()
            try await BLEDaemonTests.waiting { try bench.current.waitingCount == 0 }
            phone.switchBluetoothOn()
        case .radioReturns:
            phone.unplugRadio()
            _ = try await witness.listen { $0 == .event(.stateChanged(.resetting)) }
            phone.plugInRadio()
        case .radioReturnsToEndedApp: phone.plugInRadio()
        case .restart:
            bench.stop()
            try bench.start()
        }
        if waiting == .loss, !fate.endsLinks { world.separate(phone, sensor) }
        if waiting != .loss { world.rejoin(phone, sensor) }
        if fate.launches {
            try await BLEDaemonTests.waiting { launches.withLock { $0 > 0 } }
        } else {
            // What the app waits for happens for another one.
            try await happen(waiting, on: bench)
        }
        withExtendedLifetime((app, witness)) {}
        return launches.withLock { $0 }
    }

    /// An app that waits for something.
    private func begin(
        _ waiting: Waiting,
        on bench: DaemonBench,
        _ world: World,
        _ phone: Machine,
        _ sensor: Machine
    ) async throws -> RawApp {
        let app = try RawApp(at: bench.path)
        app.say(.hello(Hello(.central, restoring: "app")))
        _ = try await app.listen { $0 == .event(.stateChanged(.poweredOn)) }
        guard waiting != .discovery else {
            world.separate(phone, sensor)
            app.say(.request(1, Self.scan))
            return app
        }
        let peer = try await find(by: app)
        if waiting == .connection { world.separate(phone, sensor) }
        app.say(.request(3, .connect(peer, ConnectRequest())))
        if waiting == .loss {
            _ = try await app.listen { if case .event(.connected(peer, _)) = $0 { true } else { false } }
        }
        return app
    }

    private func find(by app: RawApp) async throws -> PeerIdentifier {
        app.say(.request(1, Self.scan))
        var found: PeerIdentifier?
        _ = try await app.listen { message in
            if case .event(let event) = message { found = found ?? event.discoveredPeer }
            return found != nil
        }
        app.say(.request(2, .stopScan))
        return try #require(found)
    }

    private func happen(_ waiting: Waiting, on bench: DaemonBench) async throws {
        let app = try RawApp(at: bench.path)
        app.say(.hello(Hello(.central)))
        _ = try await app.listen { $0 == .event(.stateChanged(.poweredOn)) }
        let peer = try await find(by: app)
        guard waiting != .discovery else { return }
        app.say(.request(3, .connect(peer, ConnectRequest())))
        _ = try await app.listen { if case .event(.connected(peer, _)) = $0 { true } else { false } }
    }
}

extension ClientEvent {
    /// The device that was discovered, if one was.
    fileprivate var discoveredPeer: PeerIdentifier? {
        if case .discovered(let report) = self { report.peer } else { nil }
    }
}
