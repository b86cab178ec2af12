import CoreBluetooth

/// A manager that is made when it is first needed, and what is near as callbacks: the shape of a Combine wrapper.
final class Radar: NSObject, CBCentralManagerDelegate {
    /// What `sink` of a publisher gives.
    final class Subscription {
        fileprivate let receive: (String) -> Void
        fileprivate init(_ receive: @escaping (String) -> Void) { self.receive = receive }
    }

    private lazy var central = CBCentralManager(delegate: self, queue: .main)
    private var subscribers: [() -> Subscription?] = []

    /// Tells of each name that is heard, for as long as the subscription is kept.
    func names(_ receive: @escaping (String) -> Void) -> Subscription {
        let subscription = Subscription(receive)
        subscribers.append { [weak subscription] in subscription }
        if central.state == .poweredOn { begin() }
        return subscription
    }

    private func begin() { central.scanForPeripherals(withServices: nil) }

    func centralManagerDidUpdateState(_ central: CBCentralManager) { if central.state == .poweredOn { begin() } }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        guard let name = advertisementData[CBAdvertisementDataLocalNameKey] as? String else { return }
        for subscriber in subscribers { subscriber()?.receive(name) }
    }
}
