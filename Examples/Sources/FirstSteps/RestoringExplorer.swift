import CoreBluetooth

/// A central that opts in to state preservation and restoration.
///
/// The system that relaunches an app gives its delegate back what the central manager was doing.
final class RestoringExplorer: NSObject, CBCentralManagerDelegate {
    static let restoreIdentifier = "myCentralManagerIdentifier"

    private(set) var peripherals: [CBPeripheral] = []
    private(set) var states: [CBManagerState] = []
    private var myCentralManager: CBCentralManager!
    private let myServiceUUID: CBUUID

    init(service: CBUUID) {
        myServiceUUID = service
        super.init()
        myCentralManager = CBCentralManager(
            delegate: self,
            queue: nil,
            options: [CBCentralManagerOptionRestoreIdentifierKey: Self.restoreIdentifier]
        )
    }

    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        peripherals = dict[CBCentralManagerRestoredStatePeripheralsKey] as? [CBPeripheral] ?? []
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        states.append(central.state)
        guard central.state == .poweredOn else { return }
        for peripheral in peripherals {
            let known = peripheral.services?.firstIndex { $0.uuid == myServiceUUID }
            if known == nil { peripheral.discoverServices([myServiceUUID]) }
        }
    }
}
