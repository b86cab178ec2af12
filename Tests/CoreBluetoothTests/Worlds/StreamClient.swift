import CoreBluetooth

/// An app that finds a ``StreamServer``, reads and writes all that it has, and takes its stream.
final class StreamClient: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
    private(set) var manager: CBCentralManager!
    private(set) var peripheral: CBPeripheral?
    private let commands: Int
    private let options: [String: Any]?
    private var sent = 0
    private(set) var log: [String] = []
    /// What was notified, in order.
    private(set) var received: [Data] = []
    /// How often write commands had to wait.
    private(set) var waits = 0
    /// Whether to subscribe to the stream.
    var subscribes = true

    /// Starts at once; writes the numbers from 0 to `commands` without response.
    init(commands: Int = 0, options: [String: Any]? = nil, queue: DispatchQueue? = DispatchQueue(label: "client")) {
        self.commands = commands
        self.options = options
        super.init()
        manager = CBCentralManager(delegate: self, queue: queue)
    }

    /// The characteristic of the server with this type.
    func characteristic(_ type: CBUUID) -> CBCharacteristic? {
        peripheral?.services?.first?.characteristics?.first { $0.uuid == type }
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        log.append("state \(central.state.rawValue)")
        if central.state == .poweredOn { central.scanForPeripherals(withServices: [StreamServer.service]) }
    }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        let services = advertisementData[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID]
        log.append("discovered \(peripheral.name ?? "-") \(services?.map(\.uuidString) ?? [])")
        self.peripheral = peripheral
        central.stopScan()
        central.connect(peripheral, options: options)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        log.append("connected")
        peripheral.delegate = self
        peripheral.discoverServices(nil)
    }

    func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        timestamp: CFAbsoluteTime,
        isReconnecting: Bool,
        error: (any Error)?
    ) { log.append("disconnected \(brief(error))\(isReconnecting ? " reconnecting" : "")") }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        log.append("services \(peripheral.services?.map(\.uuid.uuidString) ?? []) \(brief(error))")
        guard let service = peripheral.services?.first else { return }
        peripheral.discoverCharacteristics(nil, for: service)
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didDiscoverCharacteristicsFor service: CBService,
        error: (any Error)?
    ) {
        log.append("characteristics \(service.characteristics?.map(\.uuid.uuidString) ?? []) \(brief(error))")
        guard let fixed = characteristic(StreamServer.fixed), let note = characteristic(StreamServer.note),
            let stream = characteristic(StreamServer.stream)
        else { return }
        peripheral.readValue(for: fixed)
        peripheral.discoverDescriptors(for: note)
        peripheral.writeValue(Data(repeating: 7, count: 300), for: note, type: .withResponse)
        peripheral.readValue(for: note)
        peripheral.readRSSI()
        if subscribes { peripheral.setNotifyValue(true, for: stream) }
        sendOn()
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didDiscoverDescriptorsFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        log.append("descriptors \(characteristic.descriptors?.map(\.uuid.uuidString) ?? []) \(brief(error))")
        characteristic.descriptors?.forEach { peripheral.readValue(for: $0) }
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor descriptor: CBDescriptor, error: (any Error)?) {
        log.append("descriptor \(descriptor.value ?? "-") \(brief(error))")
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateValueFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        if characteristic.uuid == StreamServer.stream, let value = characteristic.value {
            return received.append(value)
        }
        log.append("read \(characteristic.uuid.uuidString) \(characteristic.value?.count ?? -1) \(brief(error))")
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didWriteValueFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) { log.append("written \(characteristic.uuid.uuidString) \(brief(error))") }

    func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) { log.append("notifying \(characteristic.isNotifying) \(brief(error))") }

    func peripheral(_ peripheral: CBPeripheral, didReadRSSI RSSI: NSNumber, error: (any Error)?) {
        log.append("rssi \((-90 ..< -20).contains(RSSI.intValue)) \(brief(error))")
    }

    func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral) { sendOn() }

    private func sendOn() {
        guard let peripheral, let note = characteristic(StreamServer.note) else { return }
        while sent < commands {
            guard peripheral.canSendWriteWithoutResponse else {
                waits += 1
                return
            }
            peripheral.writeValue(StreamServer.value(sent), for: note, type: .withoutResponse)
            sent += 1
        }
    }
}
