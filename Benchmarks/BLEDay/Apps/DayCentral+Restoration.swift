import CoreBluetooth

// The state that this launch of the app takes over from an earlier one.
extension DayCentral {
    /// Continues the connections and the scan of an earlier launch.
    func restored(_ state: [String: Any]) {
        if manager.state == .poweredOn { complain("restored after the state was reported") }
        if state.isEmpty, !manager.isScanning { complain("restored although there is nothing to restore") }
        let peripherals = state[CBCentralManagerRestoredStatePeripheralsKey] as? [CBPeripheral] ?? []
        for peripheral in peripherals {
            let subject = meet(peripheral)
            complain(subject.link.restored(peripheral.state, at: chronicle.now))
            if subject.link.isConnected { join(subject) }
        }
        guard manager.isScanning else { return }
        let options = state[CBCentralManagerRestoredStateScanOptionsKey] as? [String: Any] ?? [:]
        scan = ScanModel(
            services: state[CBCentralManagerRestoredStateScanServicesKey] as? [CBUUID],
            solicited: options[CBCentralManagerScanOptionSolicitedServiceUUIDsKey] as? [CBUUID] ?? [],
            allowsDuplicates: options[CBCentralManagerScanOptionAllowDuplicatesKey] as? Bool ?? false
        )
    }
}
