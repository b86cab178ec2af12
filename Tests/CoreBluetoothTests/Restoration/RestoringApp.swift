import BLESimulation

@testable import CoreBluetooth

/// One launch of an app that has its state restored: it keeps what it is given and writes down what it hears.
final class RestoringApp: NSObject {
    /// Whatever is asked of the app happens on this queue, or while nothing else does.
    private let queue = DispatchQueue(label: "restoring app")
    private var calls: [String] = []
    var peripherals: [CBPeripheral] = []
    var services: [CBMutableService] = []
    var restored: [String: Any]?
    /// Whether the app keeps the peripherals that it is given.
    var keeps = true
    /// What the app does when its state is restored.
    var onRestore: () -> Void = {}
    /// What the app does when it has discovered something.
    var onDiscovery: () -> Void = {}
    private(set) var central: CBCentralManager?
    private(set) var server: CBPeripheralManager?

    /// The calls since the last time.
    func take() -> [String] {
        defer { calls = [] }
        return calls
    }

    /// Creates the managers that a launch asks for.
    func start(centrals: [String] = [], peripherals: [String] = []) {
        for identifier in centrals {
            let options = [CBCentralManagerOptionRestoreIdentifierKey: identifier]
            central = CBCentralManager(delegate: self, queue: queue, options: options)
        }
        for identifier in peripherals {
            let options = [CBPeripheralManagerOptionRestoreIdentifierKey: identifier]
            server = CBPeripheralManager(delegate: self, queue: queue, options: options)
        }
    }

    private func keep(_ dictionary: [String: Any]) {
        restored = dictionary
        calls.append("restore \(dictionary.keys.sorted())")
        onRestore()
    }
}

extension RestoringApp: CBCentralManagerDelegate {
    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        self.central = central
        let given = dict[CBCentralManagerRestoredStatePeripheralsKey] as? [CBPeripheral] ?? []
        if keeps { peripherals = given }
        for peripheral in given { peripheral.delegate = self }
        keep(keeps ? dict : dict.filter { $0.key != CBCentralManagerRestoredStatePeripheralsKey })
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) { calls.append("state \(central.state.rawValue)") }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        if !peripherals.contains(peripheral) { peripherals.append(peripheral) }
        calls.append("discovered")
        onDiscovery()
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        peripheral.delegate = self
        calls.append("connected")
    }

    func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?) {
        calls.append("failed \(brief(error))")
    }

    func centralManager(_ central: CBCentralManager, didDisconnectPeripheral: CBPeripheral, error: (any Error)?) {
        calls.append("disconnected \(brief(error))")
    }
}

extension RestoringApp: CBPeripheralDelegate {
    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor item: CBCharacteristic, error: (any Error)?) {
        calls.append("value \(item.value.map { [UInt8]($0) } ?? []) \(brief(error))")
    }

    func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService]) {
        calls.append("modified \(invalidatedServices.map(\.uuid.uuidString))")
    }
}

extension RestoringApp: CBPeripheralManagerDelegate {
    func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any]) {
        server = peripheral
        services = dict[CBPeripheralManagerRestoredStateServicesKey] as? [CBMutableService] ?? []
        keep(dict)
    }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        calls.append("state \(peripheral.state.rawValue)")
    }

    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
        calls.append("advertising \(brief(error))")
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
        calls.append("added \(service.uuid.uuidString) \(brief(error))")
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didSubscribeTo characteristic: CBCharacteristic
    ) { calls.append("subscribed \(characteristic.uuid.uuidString)") }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didUnsubscribeFrom characteristic: CBCharacteristic
    ) { calls.append("unsubscribed \(characteristic.uuid.uuidString)") }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        calls.append("read \(request.characteristic.uuid.uuidString)")
        request.value = Data([7])
        peripheral.respond(to: request, withResult: .success)
    }
}

/// The launches of an app on one machine.
final class Launches: Sendable {
    private let launched = LockedBox<[(launch: Machine.Launch, app: RestoringApp)]>([])
    let lines = Lines()

    /// What the machine asked for, launch by launch.
    var launches: [Machine.Launch] { launched.current.map(\.launch) }
    /// The app as it was launched last.
    var app: RestoringApp? { launched.current.last?.app }

    /// Has the app launched whenever the machine wants it; `prepare` is done before its managers are there.
    func follow(_ machine: Machine, prepare: @escaping @Sendable (RestoringApp) -> Void = { _ in }) {
        machine.onLaunch { [self] launch in
            let app = RestoringApp()
            prepare(app)
            lines.collect(machine) { app.start(centrals: launch.centrals, peripherals: launch.peripherals) }
            launched.withLock { $0.append((launch, app)) }
        }
    }
}
