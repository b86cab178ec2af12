import CoreBluetooth

/// An `async` wrapper around continuations, made by a detached task.
final class AsyncLamp: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, @unchecked Sendable {
    private let queue = DispatchQueue(label: "lamp")
    private var central: CBCentralManager?
    private var lamp: CBPeripheral?
    private var ready: CheckedContinuation<Void, any Error>?
    private var written: CheckedContinuation<Void, any Error>?
    private var brightness: CBCharacteristic?

    /// Finds the lamp and connects to it.
    func connect() async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            queue.async {
                self.ready = continuation
                self.central = CBCentralManager(delegate: self, queue: self.queue)
            }
        }
    }

    /// Has the lamp shine so bright, and returns when it said that it does.
    func shine(_ level: UInt8) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            queue.async {
                guard let brightness = self.brightness else {
                    return continuation.resume(throwing: CBError(.notConnected))
                }
                self.written = continuation
                self.lamp?.writeValue(Data([level]), for: brightness, type: .withResponse)
            }
        }
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        if central.state == .poweredOn {
            central.scanForPeripherals(withServices: [CBUUID(string: "FFE0")])
        } else {
            ready?.resume(throwing: CBError(.unknown))
            ready = nil
        }
    }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        central.stopScan()
        lamp = peripheral
        peripheral.delegate = self
        central.connect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        peripheral.discoverServices(nil)
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        for service in peripheral.services ?? [] { peripheral.discoverCharacteristics(nil, for: service) }
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?) {
        brightness = service.characteristics?.first
        ready?.resume()
        ready = nil
    }

    func peripheral(_ peripheral: CBPeripheral, didWriteValueFor item: CBCharacteristic, error: (any Error)?) {
        if let error { written?.resume(throwing: error) } else { written?.resume() }
        written = nil
    }
}
