import CoreBluetooth

/// What an app needs of a peripheral, so that tests can put something else in its place.
protocol Device: AnyObject {
    var identifier: UUID { get }
    var name: String? { get }
    var state: CBPeripheralState { get }
    func readRSSI()
    func discoverServices(_ serviceUUIDs: [CBUUID]?)
    func writeValue(_ data: Data, for characteristic: CBCharacteristic, type: CBCharacteristicWriteType)
}

extension CBPeripheral: Device {}

protocol Scanner: AnyObject {
    var isScanning: Bool { get }
    func scanForPeripherals(withServices serviceUUIDs: [CBUUID]?, options: [String: Any]?)
    func stopScan()
}

extension CBCentralManager: Scanner {}

/// A manager that counts what is asked of it.
class CountingCentral: CBCentralManager {
    private(set) var scans = 0
    private(set) var connects = 0

    override var state: CBManagerState { .poweredOn }
    override class var authorization: CBManagerAuthorization { .denied }
    override class func supports(_ features: CBCentralManager.Feature) -> Bool { true }

    override func scanForPeripherals(withServices serviceUUIDs: [CBUUID]?, options: [String: Any]? = nil) { scans += 1 }
    override func connect(_ peripheral: CBPeripheral, options: [String: Any]? = nil) {
        connects += 1
        delegate?.centralManager(self, didConnect: peripheral)
    }
}

final class ConfiguredCentral: CBCentralManager {
    let label: String

    init(label: String) {
        self.label = label
        super.init(delegate: nil, queue: DispatchQueue(label: label), options: nil)
    }
}

final class RecordingServer: CBPeripheralManager {
    private(set) var updates: [Data] = []

    override var isAdvertising: Bool { true }
    override func updateValue(
        _ value: Data,
        for characteristic: CBMutableCharacteristic,
        onSubscribedCentrals centrals: [CBCentral]?
    ) -> Bool {
        updates.append(value)
        return super.updateValue(value, for: characteristic, onSubscribedCentrals: centrals)
    }
}

final class NamedCharacteristic: CBMutableCharacteristic {
    let label: String

    init(label: String) {
        self.label = label
        super.init(type: CBUUID(string: "2A19"), properties: .read, value: Data([1]), permissions: .readable)
    }
}

/// Calls whose result nobody looks at, as imported declarations allow.
func ignoreResults(_ central: CBCentralManager, _ server: CBPeripheralManager, _ value: CBMutableCharacteristic) {
    central.retrievePeripherals(withIdentifiers: [])
    central.retrieveConnectedPeripherals(withServices: [])
    server.updateValue(Data(), for: value, onSubscribedCentrals: nil)
}

/// Copies, as collections of Objective-C's kind make them.
func copies(_ identifier: CBUUID, _ peer: CBPeer) -> [Any] {
    [identifier.copy(), peer.copy(with: nil), (identifier as NSCopying).copy(with: nil)]
}

/// A channel that a test fills.
final class FilledChannel: CBL2CAPChannel {
    private let source: InputStream
    private let sink = OutputStream.toMemory()

    init(_ data: Data) {
        source = InputStream(data: data)
        super.init()
    }

    override var inputStream: InputStream! { source }
    override var outputStream: OutputStream! { sink }
    override var psm: CBL2CAPPSM { 0x80 }
}

/// A characteristic whose UUID nobody shall ask for.
final class UnknownCharacteristic: CBMutableCharacteristic {
    init() { super.init(type: CBUUID(), properties: [], value: nil, permissions: []) }
}

func emptyChannel() -> CBL2CAPChannel { CBL2CAPChannel() }
