import CoreBluetooth
import CoreBluetoothExtras

/// A peripheral that accepts L2CAP channels from centrals, and publishes the PSM in a characteristic.
@MainActor
final class ChannelServer: NSObject {
    /// An event that a server reports to its owner.
    enum Event {
        case published(CBL2CAPPSM)
        case advertising
        case opened(CBL2CAPChannel)
        /// The radio became unavailable or available again.
        case radioChanged(RadioChange)
        case failed(CommandError)
    }

    /// The UUID of the service whose only characteristic holds the PSM.
    static let service = CBUUID(string: "8C2A5B3E-6D1F-4E7A-9C40-2B6F1D8E5A71")
    /// The UUID of the characteristic that holds the PSM.
    static let characteristic = CBUUID(string: CBUUIDL2CAPPSMCharacteristicString)

    private let name: String
    private let isEncrypted: Bool
    private let report: (Event) -> Void
    private var manager: CBPeripheralManager!
    private var radio = RadioWatch()
    private var psm: CBL2CAPPSM?

    /// Publishes a channel and its PSM, and advertises under `name`, as soon as the radio is available.
    init(name: String, encrypted: Bool = false, report: @escaping (Event) -> Void) {
        self.name = name
        isEncrypted = encrypted
        self.report = report
        super.init()
        manager = CBPeripheralManager(delegate: self, queue: .main)
    }

    /// Stops waiting for a radio that has not become available, and reports the failure.
    func giveUpOnRadio() { follow(radio.overdue()) }

    /// True if the radio can be used now.
    var hasRadio: Bool { manager.state == .poweredOn }

    /// Stops advertising and closes the open channels.
    func close() {
        if hasRadio { withdraw() }
    }

    private func withdraw() {
        manager.stopAdvertising()
        manager.removeAllServices()
        if let psm { manager.unpublishL2CAPChannel(psm) }
        psm = nil
    }

    /// Disconnects a central, and waits for at most `time` until the connection has ended.
    ///
    /// Before it disconnects, the host sends everything that it has accepted.
    func disconnect(_ peer: CBPeer, within time: Duration) async {
        let end = ContinuousClock.now + time
        while ContinuousClock.now < end {
            guard let central = manager.connectedCentrals.first(where: { $0.identifier == peer.identifier }) else {
                return
            }
            manager.disconnect(central)
            try? await Task.sleep(for: .milliseconds(20))
        }
    }

    private func follow(_ change: RadioWatch.OnChange) {
        switch change {
        case .nothing: break
        case .appeared: manager.publishL2CAPChannel(withEncryption: isEncrypted)
        case .lost: report(.radioChanged(.lost))
        case .returned:
            report(.radioChanged(.returned))
            // If Bluetooth was only switched off, the old service and channel are available again. New ones replace
            // them.
            withdraw()
            manager.publishL2CAPChannel(withEncryption: isEncrypted)
        case .missing(let state): report(.failed(.noRadio(state)))
        }
    }

    private func fail(_ what: String, _ error: any Error) {
        if !error.isLoss { report(.failed(.failed(what, error))) }
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
        follow(radio.changed(to: peripheral.state))
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        didPublishL2CAPChannel PSM: CBL2CAPPSM,
        error: (any Error)?
    ) {
        if let error { return fail("Publishing a channel", error) }
        publish(PSM)
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
        if let error { return fail("Adding service \(service.uuid)", error) }
        manager.startAdvertising([CBAdvertisementDataLocalNameKey: name])
    }

    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
        if let error { return fail("Advertising", error) }
        report(.advertising)
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
        if let channel { report(.opened(channel)) }
    }
}
