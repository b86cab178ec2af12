import BLEHost
import BLEWire
import Foundation

extension CBCentralManager {
    /// Restores the state that an earlier launch of the app left behind, and calls the delegate.
    ///
    /// Peripherals that the delegate does not retain are disconnected, as on Apple's systems.
    func restore(_ state: PreservedCentral) {
        let peripherals = state.peers.map { peer in
            let peripheral = peripheral(peer.peer, name: peer.name)
            peripheral.restore(peer)
            return peripheral
        }
        content.withLock {
            $0.scan = state.scan
            // The scan went on while the app was not running.
            $0.hasScanBegun = state.scan != nil
        }
        delegate?.centralManager(self, willRestoreState: state.dictionary(with: peripherals))
    }
}

extension PreservedCentral {
    /// Returns the dictionary to pass to the delegate.
    ///
    /// Empty lists are left out.
    fileprivate func dictionary(with peripherals: [CBPeripheral]) -> [String: Any] {
        var dictionary: [String: Any] = [:]
        if !peripherals.isEmpty { dictionary[CBCentralManagerRestoredStatePeripheralsKey] = peripherals }
        guard let scan else { return dictionary }
        if !scan.services.isEmpty {
            dictionary[CBCentralManagerRestoredStateScanServicesKey] = scan.services.map { CBUUID($0) }
        }
        let options = scan.options
        if !options.isEmpty { dictionary[CBCentralManagerRestoredStateScanOptionsKey] = options }
        return dictionary
    }
}

extension ScanRequest {
    /// The options dictionary for this request.
    fileprivate var options: [String: Any] {
        var options: [String: Any] = [:]
        if allowsDuplicates { options[CBCentralManagerScanOptionAllowDuplicatesKey] = true }
        if !solicitedServices.isEmpty {
            options[CBCentralManagerScanOptionSolicitedServiceUUIDsKey] = solicitedServices.map { CBUUID($0) }
        }
        return options
    }
}

extension CBPeripheral {
    /// Restores the connection state and the attributes that the peripheral had in an earlier launch of the app.
    func restore(_ state: PreservedPeer) {
        record.withLock { $0.restore(state, of: self) }
    }
}

extension PeripheralRecord {
    fileprivate mutating func restore(_ state: PreservedPeer, of peripheral: CBPeripheral) {
        link = PeripheralLink(isConnected: state.mtu != nil)
        if let mtu = state.mtu { self.mtu = mtu }
        for event in state.validEvents { restore(event, of: peripheral) }
    }

    private mutating func restore(_ event: PeerEvent, of peripheral: CBPeripheral) {
        switch event {
        case .linkChanged(let details): self.details = details
        case .servicesDiscovered(.success(let found)): database.add(found, of: peripheral)
        case .includedServicesDiscovered(let range, .success(let found)):
            if let owner = database.service(in: range) { database.add(found, to: owner, of: peripheral) }
        case .characteristicsDiscovered(let range, .success(let found)):
            if let service = database.service(in: range) { database.add(found, to: service) }
        case .descriptorsDiscovered(let handle, .success(let found)):
            if let owner = database.characteristic(handle) { database.add(found, to: owner) }
        case .subscriptionChanged(let handle, let subscription, _):
            database.characteristic(handle)?.subscription = subscription
        default: break
        }
    }
}
