import BLEHost
import BLERuntime
import CoreBluetooth
import Testing

/// The ways in which apps conform to the delegates, all of which compile and are called where they expect it.
@Suite("Conformance styles")
struct ConformanceStyleTests {
    /// The conformance promises that it is used on the main actor alone, and checks it.
    @MainActor final class Preconcurrency: NSObject, @preconcurrency CBCentralManagerDelegate {
        var states: [CBManagerState] = []
        func centralManagerDidUpdateState(_ central: CBCentralManager) { states.append(central.state) }
    }

    /// Methods outside of the main actor that return to it by themselves.
    @MainActor final class Assuming: NSObject, CBCentralManagerDelegate {
        var states: [CBManagerState] = []
        nonisolated func centralManagerDidUpdateState(_ central: CBCentralManager) {
            let state = central.state
            MainActor.assumeIsolated { states.append(state) }
        }
    }

    /// The shape of a view model: all of it on the main actor.
    @MainActor final class ViewModel: NSObject, @MainActor CBCentralManagerDelegate, @MainActor CBPeripheralDelegate {
        var states: [CBManagerState] = []
        var central: CBCentralManager!
        var found: CBPeripheral?
        var services: [String] = []

        func start() { central = CBCentralManager(delegate: self, queue: nil) }

        func centralManagerDidUpdateState(_ central: CBCentralManager) {
            MainActor.preconditionIsolated()
            states.append(central.state)
            central.scanForPeripherals(withServices: nil)
        }

        func centralManager(
            _ central: CBCentralManager,
            didDiscover peripheral: CBPeripheral,
            advertisementData: [String: Any],
            rssi RSSI: NSNumber
        ) {
            found = peripheral
            peripheral.delegate = self
            central.connect(peripheral)
        }

        func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
            peripheral.discoverServices(nil)
        }

        func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
            services = peripheral.services?.map(\.uuid.uuidString) ?? []
        }
    }

    /// Delegates in an extension, and in a class of a queue of its own.
    final class Plain: NSObject {
        let queue = DispatchQueue(label: "app")
        var states: [CBManagerState] = []
    }

    @Test("Delegates on the main actor are called there, in every style of conformance")
    @MainActor func mainActor() async {
        let link = ScriptedLink(), first = Preconcurrency(), second = Assuming()
        let managers = Bluetooth.$link.withValue(link) {
            [CBCentralManager(delegate: first, queue: nil), CBCentralManager(delegate: second, queue: .main)]
        }
        for session in link.sessions { await session.tell(.stateChanged(.poweredOn)) }
        #expect(first.states == [.poweredOn])
        #expect(second.states == [.poweredOn])
        #expect(managers.map(\.state) == [.poweredOn, .poweredOn])
    }

    @Test("A view model on the main actor completes a whole discovery")
    @MainActor func viewModel() async {
        let link = ScriptedLink(), model = ViewModel()
        Bluetooth.$link.withValue(link) { model.start() }
        let session = link.sessions[0]
        await session.tell(.stateChanged(.poweredOn))
        await session.tell(.discovered(.of(CentralBench.peer)))
        await session.tell(.connected(CentralBench.peer, LinkParameters(mtu: 23)))
        await session.tell(.peer(CentralBench.peer, .servicesDiscovered(.success([Fixture.battery]))))
        #expect(model.services == ["180F"])
    }

    @Test("A queue of the app counts as the queue of its callbacks")
    func ownQueue() async {
        let link = ScriptedLink(), app = Plain()
        let manager = Bluetooth.$link.withValue(link) { CBCentralManager(delegate: app, queue: app.queue) }
        await link.sessions[0].tell(.stateChanged(.poweredOn), .stateChanged(.poweredOff))
        #expect(app.states == [.poweredOn, .poweredOff])
        #expect(manager.state == .poweredOff)
    }
}

extension ConformanceStyleTests.Plain: CBCentralManagerDelegate {
    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        dispatchPrecondition(condition: .onQueue(queue))
        states.append(central.state)
    }
}
