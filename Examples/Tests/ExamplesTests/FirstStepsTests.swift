import BLESimulation
import CoreBluetooth
import Testing

@testable import FirstSteps
@testable import PeripheralMode

@Suite("First steps") @MainActor
struct FirstStepsTests {
    @Test("A central discovers, reads, subscribes to and writes what a peripheral publishes", arguments: seeds)
    func both(seed: UInt64) async {
        let stage = Stage(seed: seed, loss: 0.2)
        let publisher = stage.start(on: "peripheral") { Publisher() }
        await stage.wait(until: "it advertises") { publisher.log.contains("Advertising") }
        let services = [Publisher.firstServiceUUID, Publisher.secondServiceUUID]
        let explorer = stage.start(on: "central") { Explorer(services: services) }
        explorer.dataToWrite = Data("changed".utf8)

        await stage.wait(until: "the fixed value is read") {
            explorer.values[Publisher.fixedUUID] == Publisher.myValue
        }
        await stage.wait(until: "the subscriber is welcomed") {
            explorer.notifications[Publisher.changingUUID]?.contains(Data("welcome".utf8)) == true
        }
        await stage.wait(until: "the value is written") {
            publisher.myCharacteristic.value == Data("changed".utf8)
                && explorer.log.contains("Wrote characteristic \(Publisher.changingUUID.uuidString)")
        }
        explorer.finish()
        await stage.wait(until: "it disconnects") { explorer.log.last == "Peripheral disconnected" }
    }

    @Test("A known peripheral is reconnected without scanning")
    func reconnect() async throws {
        let stage = Stage()
        let publisher = stage.start(on: "peripheral") { Publisher() }
        let explorer = stage.start(on: "central") { Explorer(services: [Publisher.firstServiceUUID]) }
        await stage.wait(until: "the fixed value is read") { explorer.values[Publisher.fixedUUID] != nil }
        let identifier = try #require(explorer.discoveredPeripheral?.identifier)
        #expect(
            explorer.connectedPeripherals(with: [Publisher.firstServiceUUID]).map(\.identifier) == [identifier]
        )
        explorer.finish()
        await stage.wait(until: "it disconnects") { explorer.log.last == "Peripheral disconnected" }
        explorer.reconnect(to: [identifier])
        await stage.wait(until: "it connects again") {
            explorer.log.filter { $0 == "Peripheral connected" }.count == 2
        }
        #expect(publisher.log.contains("Advertising"))
    }

    @Test("A central that opts in to restoration starts normally when there is nothing to restore")
    func restoration() async {
        let stage = Stage()
        let explorer = stage.start(on: "central") { RestoringExplorer(service: Publisher.firstServiceUUID) }
        await stage.wait(until: "the radio is on") { explorer.states == [.poweredOn] }
        #expect(explorer.peripherals.isEmpty)
    }

    @Test("A central that the system ended gets its peripheral back, and discovers the service that it needs")
    func restored() async throws {
        let stage = Stage()
        let publisher = stage.start(on: "peripheral") { Publisher() }
        await stage.wait(until: "it advertises") { publisher.log.contains("Advertising") }
        let options = [CBCentralManagerOptionRestoreIdentifierKey: RestoringExplorer.restoreIdentifier]
        let first = stage.start(on: "central") { Explorer(services: [Publisher.firstServiceUUID], options: options) }
        await stage.wait(until: "it connects") { first.log.contains("Peripheral connected") }

        stage.world.machine("central").endApps(.terminatedBySystem)
        let second = stage.start(on: "central") { RestoringExplorer(service: Publisher.firstServiceUUID) }
        await stage.wait(until: "the service is discovered") {
            second.peripherals.first?.services?.map(\.uuid).contains(Publisher.firstServiceUUID) == true
        }
        #expect(second.peripherals.map(\.identifier) == [first.discoveredPeripheral?.identifier])
    }

    /// An app that the system launches, with the identifiers that it was given for its managers.
    @MainActor private final class LaunchedApp {
        private(set) var centrals: [String] = []
        private(set) var explorer: RestoringExplorer?

        func start(_ launch: Machine.Launch) {
            centrals += launch.centrals
            explorer = RestoringExplorer(service: CBUUID(string: Service1StrUUID))
        }
    }

    @Test("A value launches an app that has ended, with the identifiers of its managers")
    func launchedAgain() async {
        let stage = Stage()
        let peripheral = stage.start(on: "peripheral") {
            PeripheralViewController(ticker: WorldTicker(in: stage.world))
        }
        stage.world.machine("peripheral").inhabit { peripheral.viewDidLoad() }
        await stage.wait(until: "it advertises") { peripheral.log.contains("Advertising") }
        let options = [CBCentralManagerOptionRestoreIdentifierKey: RestoringExplorer.restoreIdentifier]
        let first = stage.start(on: "central") {
            Explorer(services: [CBUUID(string: Service1StrUUID)], options: options)
        }
        await stage.wait(until: "it is subscribed") { !first.notifications.isEmpty }

        let phone = stage.world.machine("central"), app = LaunchedApp()
        phone.onLaunch { app.start($0) }
        phone.endApps(.terminatedBySystem)
        await stage.wait(until: "the app has its peripheral back") { app.explorer?.peripherals.count == 1 }
        #expect(app.centrals == [RestoringExplorer.restoreIdentifier])
    }
}
