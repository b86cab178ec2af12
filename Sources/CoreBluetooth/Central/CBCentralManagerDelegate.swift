public import Foundation

/// The methods that a central manager calls on its queue.
///
/// Only ``centralManagerDidUpdateState(_:)`` is required.
public protocol CBCentralManagerDelegate: NSObjectProtocol {
    /// The manager's state has changed.
    ///
    /// Below ``CBManagerState/poweredOn``, scans and connections have ended without further calls. Below
    /// ``CBManagerState/poweredOff``, the manager's peripherals are invalid, too.
    func centralManagerDidUpdateState(_ central: CBCentralManager)

    /// The system has restored the state of an earlier launch of the app. Called once per launch, before all other
    /// methods.
    ///
    /// `dict` contains ``CBCentralManagerRestoredStatePeripheralsKey`` if peripherals were connected or connecting:
    /// retain them and set their delegate. ``CBCentralManagerRestoredStateScanServicesKey`` and
    /// ``CBCentralManagerRestoredStateScanOptionsKey`` describe the scan. Commands are not accepted yet.
    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any])

    /// A device was discovered. Retain `peripheral`, or it is released.
    ///
    /// `RSSI` is the signal strength in dBm; 127 if it is unknown.
    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    )

    /// A peripheral was connected.
    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral)

    /// A connection could not be established.
    func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?)

    /// A peripheral was disconnected; without an error if the app requested it.
    ///
    /// If a delegate has this method, the other one is not called, and its connections are not re-established
    /// automatically.
    func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    )

    /// A peripheral was disconnected; without an error if the app requested it.
    func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        timestamp: CFAbsoluteTime,
        isReconnecting: Bool,
        error: (any Error)?
    )

    /// A registered peer has connected to this machine or disconnected.
    func centralManager(
        _ central: CBCentralManager,
        connectionEventDidOccur event: CBConnectionEvent,
        for peripheral: CBPeripheral
    )

    /// The authorization to use the Apple Notification Center Service has changed. Not called on Linux.
    func centralManager(_ central: CBCentralManager, didUpdateANCSAuthorizationFor peripheral: CBPeripheral)
}

// Apple's protocol marks these optional; a default is what an absent method does.
extension CBCentralManagerDelegate {
    /// Ends the program if the manager has a restore identifier: as on Apple's systems, such an app must implement the
    /// method.
    ///
    /// A simulated world reports a finding instead.
    public func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        central.raiseForMissingRestoration("centralManager(_:willRestoreState:)")
    }

    /// Does nothing.
    ///
    /// A simulated world reports a finding if the app is woken for it in the background.
    public func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        central.session.reportMissing("centralManager(_:didDiscover:advertisementData:rssi:)")
    }

    /// Does nothing.
    ///
    /// A simulated world reports a finding if the app is woken for it in the background.
    public func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        central.session.reportMissing("centralManager(_:didConnect:)")
    }

    /// Does nothing.
    public func centralManager(
        _ central: CBCentralManager,
        didFailToConnect peripheral: CBPeripheral,
        error: (any Error)?
    ) {}

    /// Calls the newer method, for delegates that have only that one.
    public func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        central.forwardDisconnect(of: peripheral, error: error, to: self)
    }

    /// Does nothing.
    ///
    /// A simulated world reports a finding if the app is woken for it in the background.
    public func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        timestamp: CFAbsoluteTime,
        isReconnecting: Bool,
        error: (any Error)?
    ) {
        central.session.reportMissing("centralManager(_:didDisconnectPeripheral:error:)")
    }

    /// Does nothing.
    public func centralManager(
        _ central: CBCentralManager,
        connectionEventDidOccur event: CBConnectionEvent,
        for peripheral: CBPeripheral
    ) {}

    /// Does nothing.
    public func centralManager(_ central: CBCentralManager, didUpdateANCSAuthorizationFor peripheral: CBPeripheral) {}
}
