import BLEHost
import BLERuntime
import BLESimulation
import BLEWire
import Dispatch
import Testing

/// What becomes of an app that waits for something in a world.
///
/// The rows are those of Apple's technical note TN3115, as docs/DAEMON.md has them.
@Suite("An app in a world is launched again as with the daemon", .timeLimit(.minutes(30)))
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
}
