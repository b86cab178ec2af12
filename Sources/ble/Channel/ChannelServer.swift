import CoreBluetooth
import CoreBluetoothExtras

/// A peripheral that lets centrals open channels, and tells them to which number in a characteristic.
@MainActor
final class ChannelServer: NSObject {
    /// What a server tells of.
    enum Event {
        case published(CBL2CAPPSM)
        case advertising
        case opened(CBL2CAPChannel)
        case failed(Trouble)
    }

    /// The service whose one characteristic is the PSM.
    static let service = CBUUID(string: "8C2A5B3E-6D1F-4E7A-9C40-2B6F1D8E5A71")
    /// The type of that characteristic.
    static let characteristic = CBUUID(string: CBUUIDL2CAPPSMCharacteristicString)

    private let name: String
    private let isEncrypted: Bool
    private let report: (Event) -> Void
    private var manager: CBPeripheralManager!
    private var psm: CBL2CAPPSM?

    /// Starts to offer channels and to advertise it under `name`.
    init(name: String, encrypted: Bool = false, report: @escaping (Event) -> Void) {
        self.name = name
        isEncrypted = encrypted
        self.report = report
        super.init()
        manager = CBPeripheralManager(delegate: self, queue: .main)
    }

    /// Stops being seen, and closes what is open.
    func close() {
        manager.stopAdvertising()
        manager.removeAllServices()
        if let psm { manager.unpublishL2CAPChannel(psm) }
    }

    /// Ends the connection to a central, and waits until it has ended: what was sent has arrived then.
    func disconnect(_ peer: CBPeer) async {
        for _ in 0..<500 {
            guard let central = manager.connectedCentrals.first(where: { $0.identifier == peer.identifier }) else {
                return
            }
            manager.disconnect(central)
            try? await Task.sleep(for: .milliseconds(20))
        }
    }

    private func publish(_ psm: CBL2CAPPSM) {
        self.psm = psm
        report(.published(psm))
        let value = Data([UInt8(truncatingIfNeeded: psm), UInt8(truncatingIfNeeded: psm >> 8)])
        let service = CBMutableService(type: Self.service, primary: true)
        service.characteristics = [
            CBMutableCharacteristic(type: Self.characteristic, properties: .read, value: value, permissions: .readable)
        ]
        manager.add(service)
    }
}

extension ChannelServer: @MainActor CBPeripheralManagerDelegate {
    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        switch peripheral.state {
        case .poweredOn: if psm == nil { manager.publishL2CAPChannel(withEncryption: isEncrypted) }
        case .unknown, .resetting: break
        case let state: report(.failed(.noRadio(state)))
        }
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        didPublishL2CAPChannel PSM: CBL2CAPPSM,
        error: (any Error)?
    ) {
        if let error { return report(.failed(.failed("Offering a channel", error))) }
        publish(PSM)
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
        if let error { return report(.failed(.failed("Adding service \(service.uuid)", error))) }
        manager.startAdvertising([CBAdvertisementDataLocalNameKey: name])
    }

    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
        report(error.map { .failed(.failed("Advertising", $0)) } ?? .advertising)
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
        if let channel { report(.opened(channel)) }
    }
}
