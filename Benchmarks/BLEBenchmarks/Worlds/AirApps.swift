import CoreBluetooth

/// The peripheral's app of ``AirThroughput``, with a value to notify, one to write and one to read.
@MainActor
final class AirServer: NSObject {
    static let service = CBUUID(string: "FD20"), stream = CBUUID(string: "FD21")
    static let sink = CBUUID(string: "FD22"), store = CBUUID(string: "FD23")
    private static let value = Data(repeating: 0x5A, count: 512)
    private let offer: CBMutableService
    private let values: CBMutableCharacteristic
    private var manager: CBPeripheralManager!
    private var length = 0
    /// The number of octets that were written.
    private(set) var received = 0

    init(isEncrypted: Bool) {
        values = CBMutableCharacteristic(
            type: Self.stream,
            properties: isEncrypted ? .notifyEncryptionRequired : .notify,
            value: nil,
            permissions: []
        )
        let sink = CBMutableCharacteristic(
            type: Self.sink,
            properties: .writeWithoutResponse,
            value: nil,
            permissions: isEncrypted ? .writeEncryptionRequired : .writeable
        )
        let store = CBMutableCharacteristic(
            type: Self.store,
            properties: .read,
            value: Self.value,
            permissions: isEncrypted ? .readEncryptionRequired : .readable
        )
        offer = CBMutableService(type: Self.service, primary: true)
        offer.characteristics = [values, sink, store]
        super.init()
        manager = CBPeripheralManager(delegate: self, queue: .main)
    }

    /// Sends values until the manager accepts no more; does nothing if there is no subscriber.
    func sendOn() {
        length = values.subscribedCentrals?.first?.maximumUpdateValueLength ?? 0
        guard length > 0 else { return }
        while manager.updateValue(Self.value.prefix(length), for: values, onSubscribedCentrals: nil) {}
    }
}

extension AirServer: @MainActor CBPeripheralManagerDelegate {
    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        guard peripheral.state == .poweredOn else { return }
        peripheral.add(offer)
        peripheral.startAdvertising([CBAdvertisementDataServiceUUIDsKey: [Self.service]])
    }

    func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) { sendOn() }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        received += requests.reduce(0) { $0 + ($1.value?.count ?? 0) }
    }
}

/// The central's app of ``AirThroughput``, which uses the values of an ``AirServer``.
@MainActor
final class AirClient: NSObject {
    private let kind: AirThroughput.Kind
    private let server: AirServer
    private var manager: CBCentralManager!
    private var values: [CBUUID: CBCharacteristic] = [:]
    private var hasStarted = false
    private(set) var peripheral: CBPeripheral?
    /// The number of octets that were notified or read.
    private(set) var received = 0

    init(_ kind: AirThroughput.Kind, server: AirServer) {
        (self.kind, self.server) = (kind, server)
        super.init()
        manager = CBCentralManager(delegate: self, queue: .main)
    }

    /// Starts the transfer.
    func start() {
        hasStarted = true
        switch kind {
        case .notifications: server.sendOn()
        case .commands: writeOn()
        case .reads: read()
        case .channel: break
        }
    }

    private func read() {
        if let peripheral, let store = values[AirServer.store] { peripheral.readValue(for: store) }
    }

    private func writeOn() {
        guard hasStarted, let peripheral, let sink = values[AirServer.sink] else { return }
        let value = Data(repeating: 0x5A, count: peripheral.maximumWriteValueLength(for: .withoutResponse))
        while peripheral.canSendWriteWithoutResponse { peripheral.writeValue(value, for: sink, type: .withoutResponse) }
    }
}

extension AirClient: @MainActor CBCentralManagerDelegate {
    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        if central.state == .poweredOn { central.scanForPeripherals(withServices: [AirServer.service]) }
    }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        guard self.peripheral == nil else { return }
        self.peripheral = peripheral
        peripheral.delegate = self
        central.stopScan()
        central.connect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        peripheral.discoverServices([AirServer.service])
    }
}

extension AirClient: @MainActor CBPeripheralDelegate {
    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        for service in peripheral.services ?? [] { peripheral.discoverCharacteristics(nil, for: service) }
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didDiscoverCharacteristicsFor service: CBService,
        error: (any Error)?
    ) {
        for value in service.characteristics ?? [] { values[value.uuid] = value }
        if let stream = values[AirServer.stream] { peripheral.setNotifyValue(true, for: stream) }
        // If the values need encryption, reading one starts it.
        read()
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor item: CBCharacteristic, error: (any Error)?) {
        guard error == nil, hasStarted else { return }
        received += item.value?.count ?? 0
        if kind == .reads { read() }
    }

    func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral) { writeOn() }
}
