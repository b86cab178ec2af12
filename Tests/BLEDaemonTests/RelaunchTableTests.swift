import BLEHost
import BLERuntime
import BLESession
import BLESimulation
import BLEWire
import Dispatch
import Foundation
import Testing

@testable import BLEDaemon

/// Whether an app that waits for something is launched again: the same table in a world and with a daemon.
///
/// The rows are those of Apple's technical note TN3115, as docs/DAEMON.md has them.
@Suite("Relaunching an app in a world and with the daemon", .timeLimit(.minutes(30)))
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
    static let scan = ClientRequest.scan(ScanRequest(services: [service]))

    static func sensor() -> SimulatedPeripheral {
        SimulatedPeripheral(
            name: "Sensor",
            at: .init(x: 1),
            services: [.init("180D", [.init("2A38", [.read], value: [1])])]
        )
    }

    @Test("In a world, the app is launched exactly in the documented cases", arguments: Waiting.allCases, Fate.allCases)
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
            let found = events.withLock {
                $0.compactMap { if case .discovered(let report) = $0 { report.peer } else { nil } }.first
            }
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

    @Test(
        "With a daemon, the app is launched exactly in the documented cases",
        arguments: Waiting.allCases,
        Fate.allCases
    )
    func daemon(waiting: Waiting, fate: Fate) async throws {
        let run = try RelaunchWithDaemon()
        try await run.ask(waiting)
        try await run.undergo(fate)
        if waiting == .loss, !fate.endsLinks { run.world.separate(run.phone, run.sensor) }
        if waiting != .loss { run.world.rejoin(run.phone, run.sensor) }
        if fate.launches {
            try await BLEDaemonTests.waiting { run.launches > 0 }
        } else {
            // Another app gets what this one would have been launched for.
            try await run.connectAnotherApp()
        }
        #expect((run.launches > 0) == fate.launches)
    }
}

/// A daemon whose radio is a phone in a world in real time, and an app on it that ends.
private final class RelaunchWithDaemon {
    let world = World(seed: 1)
    let phone: Machine
    let sensor: Machine
    private let bench: DaemonBench
    private let launched = Launches()
    private var app: RawApp?

    /// How often the daemon has launched the app.
    var launches: Int { launched.count.withLock { $0 } }

    private final class Launches: Sendable {
        let count = Locked(0)
    }

    init() throws {
        phone = world.machine("phone")
        sensor = world.place(RelaunchTableTests.sensor())
        world.runInRealTime()
        let launcher = AppLauncher { _, _ in
            let text = #"{"UIBackgroundModes": ["bluetooth-central"], "LaunchCommand": ["/bin/app"]}"#
            return try? JSONDecoder().decode(AppManifest.self, from: Data(text.utf8))
        } run: { [launched] _, _, _ in
            launched.count.withLock { $0 += 1 }
        }
        bench = try DaemonBench(Radios([("phone", phone)]), launcher: launcher)
    }

    /// Opens an app that waits for this.
    func ask(_ waiting: RelaunchTableTests.Waiting) async throws {
        let app = try await open(restoring: "app")
        self.app = app
        switch waiting {
        case .discovery:
            world.separate(phone, sensor)
            app.say(.request(1, RelaunchTableTests.scan))
        case .connection, .loss:
            let peer = try await find(by: app)
            if waiting == .connection { world.separate(phone, sensor) }
            app.say(.request(3, .connect(peer, ConnectRequest())))
            if waiting == .loss {
                _ = try await app.listen { if case .event(.connected) = $0 { true } else { false } }
            }
        }
        guard waiting != .loss else { return }
        let last: UInt32 = waiting == .discovery ? 1 : 3
        _ = try await app.listen { if case .taken(last...) = $0 { true } else { false } }
    }

    /// Has this happen to the app and to Bluetooth, and returns when it has.
    func undergo(_ fate: RelaunchTableTests.Fate) async throws {
        let query = DaemonQuery(at: bench.path)
        switch fate {
        case .crash: try await crash()
        case .quitByUser:
            #expect(try query.ask(.quit(process: UInt32(getpid()))) == .done)
            _ = try await app?.listen()
        case .powerToggled:
            try await crash()
            #expect(try query.ask(.power(radio: nil, isOn: false)) == .done)
            #expect(try query.ask(.power(radio: nil, isOn: true)) == .done)
        case .radioReturns:
            try await crash()
            try await replugRadio()
        case .radioReturnsToEndedApp:
            app?.ending()
            try await replugRadio()
        case .restart:
            bench.stop()
            app = nil
            try bench.start()
        }
    }

    /// Connects to the sensor as an app that is not restored.
    func connectAnotherApp() async throws {
        let other = try await open(restoring: nil), peer = try await find(by: other)
        other.say(.request(3, .connect(peer, ConnectRequest())))
        _ = try await other.listen { if case .event(.connected) = $0 { true } else { false } }
    }

    private func crash() async throws {
        app = nil
        try await waiting { try bench.current.waitingCount >= 1 }
    }

    private func replugRadio() async throws {
        let witness = try await open(restoring: nil)
        phone.unplugRadio()
        _ = try await witness.listen {
            if case .event(.stateChanged(let state)) = $0 { state != .poweredOn } else { false }
        }
        phone.plugInRadio()
    }

    private func open(restoring identifier: String?) async throws -> RawApp {
        let app = try RawApp(at: bench.path)
        app.say(.hello(Hello(.central, restoring: identifier)))
        _ = try await app.listen { $0 == .event(.stateChanged(.poweredOn)) }
        return app
    }

    /// Scans for the sensor until it is found.
    private func find(by app: RawApp) async throws -> PeerIdentifier {
        app.say(.request(1, RelaunchTableTests.scan))
        let messages = try await app.listen { if case .event(.discovered) = $0 { true } else { false } }
        app.say(.request(2, .stopScan))
        let peers = messages.compactMap { if case .event(.discovered(let report)) = $0 { report.peer } else { nil } }
        return try #require(peers.first)
    }
}
