public import Foundation

/// Hears of a peripheral manager, on its queue.
///
/// Only ``peripheralManagerDidUpdateState(_:)`` is required.
public protocol CBPeripheralManagerDelegate: NSObjectProtocol {
    /// Tells that the manager can, or can no longer, be used.
    ///
    /// Below ``CBManagerState/poweredOn`` nothing is advertised and every central is gone. Below
    /// ``CBManagerState/poweredOff`` the services are gone, too, and must be added again.
    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager)
    /// Tells what was preserved of an earlier launch of the app; before anything else, once for each launch.
    ///
    /// `dict` has ``CBPeripheralManagerRestoredStateServicesKey`` if there were services, and
    /// ``CBPeripheralManagerRestoredStateAdvertisementDataKey`` if they were advertised. It is too early for commands.
    func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any])
    /// Tells that advertising has begun, or why not.
    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?)
    /// Tells that a service is published, or why not.
    func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?)
    /// Tells that a central wants to hear of each value of a characteristic.
    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didSubscribeTo characteristic: CBCharacteristic
    )
    /// Tells that a central does not want to, or can not, hear of values any more.
    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didUnsubscribeFrom characteristic: CBCharacteristic
    )
    /// Tells that a central reads; answer with ``CBPeripheralManager/respond(to:withResult:)``.
    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest)
    /// Tells that a central writes, all or nothing; answer the first of `requests`, once.
    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest])
    /// Tells that there is room again for values, after there was none.
    func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager)
    /// Tells what became of an attempt to offer a channel.
    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        didPublishL2CAPChannel PSM: CBL2CAPPSM,
        error: (any Error)?
    )
    /// Tells that a channel is not offered any more.
    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        didUnpublishL2CAPChannel PSM: CBL2CAPPSM,
        error: (any Error)?
    )
    /// Tells that a central opened a channel.
    func peripheralManager(_ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: (any Error)?)
}

// Apple's protocol marks these optional; a default is what an absent method does.
extension CBPeripheralManagerDelegate {
    /// Ends the program if the manager has a restore identifier: as on Apple's systems, such an app has the method.
    ///
    /// A simulated world lists it as a finding instead.
    public func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any]) {
        peripheral.raiseForMissingRestoration("peripheralManager(_:willRestoreState:)")
    }
    /// Does nothing.
    public func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {}
    /// Does nothing.
    public func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {}
    /// Does nothing; a simulated world lists it if the app is woken for it in the background.
    public func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didSubscribeTo characteristic: CBCharacteristic
    ) {
        peripheral.session.reportMissing("peripheralManager(_:central:didSubscribeTo:)")
    }
    /// Does nothing.
    public func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didUnsubscribeFrom characteristic: CBCharacteristic
    ) {}
    /// Refuses, so that the central does not wait for an app that does not answer reads.
    public func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        peripheral.session.reportMissing("peripheralManager(_:didReceiveRead:)")
        peripheral.respond(to: request, withResult: .requestNotSupported)
    }
    /// Refuses, so that the central does not wait for an app that does not answer writes.
    public func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        peripheral.session.reportMissing("peripheralManager(_:didReceiveWrite:)")
        guard let first = requests.first else { return }
        peripheral.respond(to: first, withResult: .requestNotSupported)
    }
    /// Does nothing.
    public func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) {}
    /// Does nothing.
    public func peripheralManager(
        _ peripheral: CBPeripheralManager,
        didPublishL2CAPChannel PSM: CBL2CAPPSM,
        error: (any Error)?
    ) {}
    /// Does nothing.
    public func peripheralManager(
        _ peripheral: CBPeripheralManager,
        didUnpublishL2CAPChannel PSM: CBL2CAPPSM,
        error: (any Error)?
    ) {}
    /// Does nothing.
    public func peripheralManager(
        _ peripheral: CBPeripheralManager,
        didOpen channel: CBL2CAPChannel?,
        error: (any Error)?
    ) {}
}
