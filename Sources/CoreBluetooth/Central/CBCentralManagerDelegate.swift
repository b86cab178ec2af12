public import Foundation

/// Hears of a central manager, on its queue.
///
/// Only ``centralManagerDidUpdateState(_:)`` is required.
public protocol CBCentralManagerDelegate: NSObjectProtocol {
    /// Tells that the manager can, or can no longer, be used.
    ///
    /// Below ``CBManagerState/poweredOn`` scanning has ended and every connection is gone, without further word. Below
    /// ``CBManagerState/poweredOff`` the manager's peripherals are void, too.
    func centralManagerDidUpdateState(_ central: CBCentralManager)

    /// Tells what was preserved of an earlier launch of the app; before anything else, once for each launch.
    ///
    /// `dict` has ``CBCentralManagerRestoredStatePeripheralsKey`` if peripherals were connected or about to be; keep
    /// them, and become their delegate. ``CBCentralManagerRestoredStateScanServicesKey`` and
    /// ``CBCentralManagerRestoredStateScanOptionsKey`` say what was scanned for. It is too early for commands.
    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any])

    /// Tells of a device that was scanned for; keep `peripheral`, or it is gone afterwards.
    ///
    /// `RSSI` says how strong the signal was, in dBm; 127 if that is unknown.
    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    )

    /// Tells that a connection is there.
    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral)

    /// Tells that a connection could not be made.
    func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?)

    /// Tells that a connection ended; without an error if the app wanted it so.
    ///
    /// A delegate that has this method is not called with the other one, and its connections are not made again by
    /// themselves.
    func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    )

    /// Tells that a connection ended and when, and whether it is being made again; without an error if the app wanted
    /// it so.
    func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        timestamp: CFAbsoluteTime,
        isReconnecting: Bool,
        error: (any Error)?
    )

    /// Tells that a peer that the app registered for connected to this machine or left it.
    func centralManager(
        _ central: CBCentralManager,
        connectionEventDidOccur event: CBConnectionEvent,
        for peripheral: CBPeripheral
    )

    /// Tells that a peripheral may, or may no longer, read the phone's alerts; not called on this system.
    func centralManager(_ central: CBCentralManager, didUpdateANCSAuthorizationFor peripheral: CBPeripheral)
}

// Apple's protocol marks these optional; a default is what an absent method does.
extension CBCentralManagerDelegate {
    /// Ends the program if the manager has a restore identifier: as on Apple's systems, such an app has the method.
    ///
    /// A simulated world lists it as a finding instead.
    public func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        central.raiseForMissingRestoration("centralManager(_:willRestoreState:)")
    }

    /// Does nothing; a simulated world lists it if the app is woken for it in the background.
    public func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        central.session.reportMissing("centralManager(_:didDiscover:advertisementData:rssi:)")
    }

    /// Does nothing; a simulated world lists it if the app is woken for it in the background.
    public func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        central.session.reportMissing("centralManager(_:didConnect:)")
    }

    /// Does nothing.
    public func centralManager(
        _ central: CBCentralManager,
        didFailToConnect peripheral: CBPeripheral,
        error: (any Error)?
    ) {}

    /// Passes the news on to the newer method, so that a delegate which has only that one is told by it.
    public func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        central.forwardDisconnect(of: peripheral, error: error, to: self)
    }

    /// Does nothing; a simulated world lists it if the app is woken for it in the background.
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
