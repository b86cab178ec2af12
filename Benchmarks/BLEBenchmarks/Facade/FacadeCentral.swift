import BLEWire
import CoreBluetooth
import Dispatch
import Foundation

/// An app that discovers a peripheral, reads, writes, and receives notifications.
///
/// Sendable because everything is used on the app's queue.
final class FacadeCentral: NSObject, FacadeApp, @unchecked Sendable {
    private static let value = Data(PeerService.value)

    let ready = DispatchSemaphore(value: 0), done = DispatchSemaphore(value: 0)
    private(set) var isGood = true

    private let workload: FacadeWorkload
    private let transport: FeedTransport
    private let queue = DispatchQueue(label: "app")
    private var manager: CBCentralManager?
    private var peripheral: CBPeripheral?
    private var characteristics: [CBCharacteristic] = []
    private var readable: CBCharacteristic { characteristics[0] }
    private var writable: CBCharacteristic { characteristics[1] }

    private var packets: [UInt8] = []
    /// The number of unfinished operations of the current turn; ``turns`` is the number of remaining turns.
    private var open = 0
    private var turns = 0
    private var isRunning = false
    private var heard = 0
    /// The discovered peripherals, which the app retains.
    private var found: [CBPeripheral] = []
    private var reports: AdvertisingReports

    init(_ workload: FacadeWorkload, _ transport: FeedTransport) {
        self.workload = workload
        self.transport = transport
        reports = AdvertisingReports(atOnce: workload.batch)
        super.init()
        manager = CBCentralManager(delegate: self, queue: queue)
    }

    func run(turns: Int) {
        let notification = transport.packets(0x1B, workload.batch)
        queue.async {
            self.packets = notification
            self.turns = turns
            self.isRunning = true
            self.takeTurn()
        }
    }

    private func takeTurn() {
        guard turns > 0 else { return finish() }
        turns -= 1
        open = workload.batch
        switch workload {
        case .advertisement: transport.feed(reports.next(isNew: true))
        case .advertisementSeen: transport.feed(reports.next(isNew: false))
        case .notificationReceived, .notificationAlone: transport.feed(packets)
        case .read: peripheral?.readValue(for: readable)
        case .write: peripheral?.writeValue(Self.value, for: writable, type: .withResponse)
        case .writeCommand: writeCommands()
        case .readServed, .writeServed, .writeCommandServed, .notificationSent: isGood = false
        }
    }

    /// Writes values until the peripheral accepts no more, or all turns are done.
    private func writeCommands() {
        guard let peripheral else { return }
        turns += 1
        while turns > 0, peripheral.canSendWriteWithoutResponse {
            peripheral.writeValue(Self.value, for: writable, type: .withoutResponse)
            turns -= 1
        }
        if turns == 0 { finish() }
    }

    /// Returns whether `value` is the value of ``PeerService``.
    ///
    /// Compares octet by octet, because `Data` takes 550 instructions to compare 20 octets.
    private func isRight(_ value: Data?) -> Bool {
        value?.withUnsafeBytes { octets in
            guard octets.count == PeerService.value.count else { return false }
            for index in 0..<octets.count where octets[index] != PeerService.value[index] { return false }
            return true
        } ?? false
    }

    private func ended(_ isGood: Bool) {
        self.isGood = self.isGood && isGood
        open -= 1
        if open == 0 { takeTurn() }
    }

    private func finish() {
        isRunning = false
        if let peripheral { manager?.cancelPeripheralConnection(peripheral) }
        done.signal()
    }
}

extension FacadeCentral: CBCentralManagerDelegate, CBPeripheralDelegate {
    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        guard central.state == .poweredOn else { return }
        central.scanForPeripherals(withServices: nil, options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
    }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi: NSNumber
    ) {
        if isRunning {
            if found.count < AdvertisingReports.devices { found.append(peripheral) }
            return ended(advertisementData[CBAdvertisementDataLocalNameKey] != nil)
        }
        guard self.peripheral == nil else { return }
        self.peripheral = peripheral
        peripheral.delegate = self
        central.connect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        if ![.advertisement, .advertisementSeen].contains(workload) { central.stopScan() }
        peripheral.discoverServices([CBUUID(PeerService.uuid)])
    }

    /// Connects and prepares again if the link was lost before the workload, which happens on a busy computer.
    func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        guard !isRunning, heard < 3 else { return }
        heard = 0
        central.connect(peripheral)
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        for service in peripheral.services ?? [] { peripheral.discoverCharacteristics(nil, for: service) }
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didDiscoverCharacteristicsFor service: CBService,
        error: (any Error)?
    ) {
        characteristics = service.characteristics ?? []
        guard characteristics.count == 3 else { return }
        peripheral.readValue(for: readable)
        peripheral.writeValue(Self.value, for: writable, type: .withResponse)
        peripheral.setNotifyValue(true, for: characteristics[2])
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateValueFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        if isRunning { return ended(isRight(characteristic.value)) }
        prepared()
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didWriteValueFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        if isRunning { return ended(error == nil) }
        prepared()
    }

    func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral) {
        if isRunning, workload == .writeCommand { writeCommands() }
    }

    /// Records that one of the three preparations is done: a read, a write or a notification.
    private func prepared() {
        heard += 1
        if heard == 3 { ready.signal() }
    }
}
