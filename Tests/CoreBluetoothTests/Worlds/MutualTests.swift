import BLESimulation
import CoreBluetooth
import Testing

/// An app in both roles: it offers a characteristic, connects to whoever else does, and writes as much as it may.
private final class MutualApp: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, CBPeripheralManagerDelegate {
    private let service = CBUUID(string: "AA00")
    private let inbox = CBUUID(string: "AA01")

    private var central: CBCentralManager?
    private var server: CBPeripheralManager?
    private(set) var peripheral: CBPeripheral?
    /// The lengths of the values that came from the other app.
    private(set) var received: [Int] = []

    override init() {
        super.init()
        let queue = DispatchQueue(label: "mutual")
        server = CBPeripheralManager(delegate: self, queue: queue)
        central = CBCentralManager(delegate: self, queue: queue)
    }

    /// Writes a value as long as it may be to the other app.
    func write() {
        guard let peripheral, let inbox = peripheral.characteristic(inbox.uuidString) else { return }
        let length = peripheral.maximumWriteValueLength(for: .withoutResponse)
        peripheral.writeValue(Data(count: length), for: inbox, type: .withoutResponse)
    }

    func peripheralManagerDidUpdateState(_ server: CBPeripheralManager) {
        guard server.state == .poweredOn else { return }
        let offer = CBMutableService(type: service, primary: true)
        offer.characteristics = [
            CBMutableCharacteristic(type: inbox, properties: .writeWithoutResponse, value: nil, permissions: .writeable)
        ]
        server.add(offer)
        server.startAdvertising([CBAdvertisementDataServiceUUIDsKey: [service]])
    }

    func peripheralManager(_ server: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        received += requests.map { $0.value?.count ?? 0 }
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        if central.state == .poweredOn { central.scanForPeripherals(withServices: [service]) }
    }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        self.peripheral = peripheral
        central.connect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        peripheral.delegate = self
        peripheral.discoverServices(nil)
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        for service in peripheral.services ?? [] { peripheral.discoverCharacteristics(nil, for: service) }
    }
}

@Suite("Apps connected to each other")
struct MutualTests {
    @Test(
        "Both apps can write as much as a packet holds, whichever of them made the link",
        .behaviour("1.6.11"),
        arguments: UInt64(0)..<16
    )
    func writeLength(seed: UInt64) async {
        let world = World(seed: seed, conditions: .init(loss: 0.1))
        let apps = ["one", "other"].map { name in world.machine(name).inhabit { MutualApp() } }
        await world.advance(by: .seconds(20))
        for app in apps {
            #expect(app.peripheral?.maximumWriteValueLength(for: .withoutResponse) == 495)
            app.write()
        }
        await world.advance(by: .seconds(2))
        #expect(apps.map(\.received) == [[495], [495]])
    }
}
