import CoreBluetooth

/// The client end of a benchmark: one connection, on which workloads run one after the other.
///
/// Each request is made in the delegate method that reports the result of the previous one, as in apps.
final class PeerClient: NSObject, @unchecked Sendable {
    let queue = DispatchQueue(label: "benchmark.client")
    private var manager: CBCentralManager?
    private(set) var peripheral: CBPeripheral?
    private var connected: ((Bool) -> Void)?
    private var whenDiscovered: ((Int) -> Void)?
    private var whenGone: (() -> Void)?
    private var undiscovered = 0

    /// Called when a value arrives; each workload sets it.
    var valueArrived: ((CBCharacteristic) -> Void)?
    var valueWritten: (() -> Void)?
    var isReady: (() -> Void)?
    var channelOpened: ((CBL2CAPChannel?) -> Void)?
    /// The open channel and the writer that sends over it; `nil` if there is none.
    var channel: (channel: CBL2CAPChannel, source: ChannelSource)?

    /// Connects to the first discovered device, discovers its services, and subscribes to its notifications.
    ///
    /// `connected` is called with true after that, or with false if it fails. Must be called on ``queue``.
    func connect(then connected: @escaping (Bool) -> Void) {
        self.connected = connected
        manager = CBCentralManager(delegate: self, queue: queue)
    }

    func characteristic(_ uuid: CBUUID) -> CBCharacteristic? {
        for service in peripheral?.services ?? [] {
            if let found = service.characteristics?.first(where: { $0.uuid == uuid }) { return found }
        }
        return nil
    }

    /// Discovers all services again; calls `done` with the number of characteristics.
    func discover(then done: @escaping (Int) -> Void) {
        whenDiscovered = done
        peripheral?.discoverServices(nil)
    }

    func disconnect(then gone: @escaping () -> Void) {
        whenGone = gone
        if let peripheral { manager?.cancelPeripheralConnection(peripheral) }
    }

    private func finishDiscovery() {
        let count = peripheral?.services?.reduce(0) { $0 + ($1.characteristics?.count ?? 0) } ?? 0
        let done = whenDiscovered
        whenDiscovered = nil
        done?(count)
    }
}

extension PeerClient: CBCentralManagerDelegate {
    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        switch central.state {
        case .poweredOn: central.scanForPeripherals(withServices: nil)
        case .unsupported: connected?(false)
        default: break
        }
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
        discover { [weak self] count in
            guard let self else { return }
            guard let notifying = characteristic(PeerPlan.notifying) else { return finish(count > 0) }
            peripheral.setNotifyValue(true, for: notifying)
        }
    }

    func centralManager(
        _ central: CBCentralManager,
        didFailToConnect peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        finish(false)
    }

    func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        whenGone?()
    }

    private func finish(_ isGood: Bool) {
        let connected = connected
        self.connected = nil
        connected?(isGood)
    }
}

extension PeerClient: CBPeripheralDelegate {
    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        let services = peripheral.services ?? []
        undiscovered = services.count
        if services.isEmpty { finishDiscovery() }
        for service in services { peripheral.discoverCharacteristics(nil, for: service) }
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didDiscoverCharacteristicsFor service: CBService,
        error: (any Error)?
    ) {
        undiscovered -= 1
        if undiscovered == 0 { finishDiscovery() }
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        finish(error == nil)
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateValueFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        valueArrived?(characteristic)
    }

    func peripheral(_ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: (any Error)?)
    {
        valueWritten?()
    }

    func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral) { isReady?() }

    func peripheral(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
        channelOpened?(channel)
    }
}
