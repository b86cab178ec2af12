public import Foundation

/// The methods that a central manager calls, on its queue.
///
/// Only ``centralManagerDidUpdateState(_:)`` is required.
public protocol CBCentralManagerDelegate: NSObjectProtocol {
    /// The manager's state has changed.
    ///
    /// If the state is below ``CBManagerState/poweredOn``, scans and connections have ended, and no further delegate
    /// calls report that. If it is below ``CBManagerState/poweredOff``, the manager's peripherals are invalid as well.
    func centralManagerDidUpdateState(_ central: CBCentralManager)

    /// The system has restored the state of an earlier launch of the app. Called once per launch, before all other
    /// methods.
    ///
    /// `dict` contains ``CBCentralManagerRestoredStatePeripheralsKey`` if peripherals were connected or connecting:
    /// retain them and set their delegate. ``CBCentralManagerRestoredStateScanServicesKey`` and
    /// ``CBCentralManagerRestoredStateScanOptionsKey`` describe the scan. The manager does not accept commands yet.
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

    /// A peripheral was disconnected. `error` is `nil` if the app requested the disconnection.
    ///
    /// If a delegate implements this method, its newer form with a timestamp is not called, and the host does not
    /// reconnect by itself.
    func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    )

    /// A peripheral was disconnected. `error` is `nil` if the app requested the disconnection.
    ///
    /// `timestamp` is in seconds since 1 January 2001. `isReconnecting` is `true` if the host tries to reconnect.
    func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        timestamp: CFAbsoluteTime,
        isReconnecting: Bool,
        error: (any Error)?
    )

    /// A peer that matches the app's registration has connected to this machine, or has disconnected.
    func centralManager(
        _ central: CBCentralManager,
        connectionEventDidOccur event: CBConnectionEvent,
        for peripheral: CBPeripheral
    )

    /// The authorization to use the Apple Notification Center Service has changed. Not called on Linux.
    func centralManager(_ central: CBCentralManager, didUpdateANCSAuthorizationFor peripheral: CBPeripheral)
}

// These methods are optional in Apple's protocol. Each default implementation does what happens there if the method is
// missing.
extension CBCentralManagerDelegate {
    /// Ends the program if the manager has a restore identifier: an app that uses state restoration must implement this
    /// method, as on Apple's systems.
    ///
    /// A simulated world reports a finding instead.
    public func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        central.raiseForMissingRestoration("centralManager(_:willRestoreState:)")
    }

    /// Does nothing.
    ///
    /// A simulated world reports a finding if the app was woken in the background for this call.
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
    /// A simulated world reports a finding if the app was woken in the background for this call.
    public func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        central.session.reportMissing("centralManager(_:didConnect:)")
    }

    /// Does nothing.
    public func centralManager(
        _ central: CBCentralManager,
        didFailToConnect peripheral: CBPeripheral,
        error: (any Error)?
    ) {}

    /// Calls the newer method, which has a timestamp, for delegates that implement only the newer method.
    public func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        central.forwardDisconnect(of: peripheral, error: error, to: self)
    }

    /// Does nothing.
    ///
    /// A simulated world reports a finding if the app was woken in the background for this call.
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
