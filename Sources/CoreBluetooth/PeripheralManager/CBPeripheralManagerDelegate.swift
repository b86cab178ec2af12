public import Foundation

/// The methods that a peripheral manager calls, on its queue.
///
/// Only ``peripheralManagerDidUpdateState(_:)`` is required.
public protocol CBPeripheralManagerDelegate: NSObjectProtocol {
    /// The manager's state has changed.
    ///
    /// If the state is below ``CBManagerState/poweredOn``, advertising has stopped and all centrals are disconnected.
    /// If it is below ``CBManagerState/poweredOff``, the services have been removed as well and must be added again.
    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager)
    /// The system has restored the state of an earlier launch of the app. Called once per launch, before all other
    /// methods.
    ///
    /// `dict` contains ``CBPeripheralManagerRestoredStateServicesKey`` if there were services, and
    /// ``CBPeripheralManagerRestoredStateAdvertisementDataKey`` if the app was advertising. The manager does not accept
    /// commands yet.
    func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any])
    /// Advertising has started, or starting it has failed.
    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?)
    /// A service was published, or publishing it has failed.
    func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?)
    /// A central has subscribed to a characteristic.
    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didSubscribeTo characteristic: CBCharacteristic
    )
    /// A central has unsubscribed from a characteristic, or has disconnected.
    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didUnsubscribeFrom characteristic: CBCharacteristic
    )
    /// A central asks to read a value.
    ///
    /// Answer with ``CBPeripheralManager/respond(to:withResult:)``.
    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest)
    /// A central asks to write one or more values.
    ///
    /// Carry out all of `requests` or none, and answer only the first, with
    /// ``CBPeripheralManager/respond(to:withResult:)``.
    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest])
    /// There is space for updates again, after ``CBPeripheralManager/updateValue(_:for:onSubscribedCentrals:)`` has
    /// returned `false`.
    func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager)
    /// An L2CAP service was published with this PSM, or publishing it has failed.
    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        didPublishL2CAPChannel PSM: CBL2CAPPSM,
        error: (any Error)?
    )
    /// An L2CAP service was unpublished, or unpublishing it has failed.
    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        didUnpublishL2CAPChannel PSM: CBL2CAPPSM,
        error: (any Error)?
    )
    /// A central has opened an L2CAP channel. Retain `channel`, or it is closed.
    func peripheralManager(_ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: (any Error)?)
}

// These methods are optional in Apple's protocol. Each default implementation does what happens there if the method is
// missing.
extension CBPeripheralManagerDelegate {
    /// Ends the program if the manager has a restore identifier: an app that uses state restoration must implement this
    /// method, as on Apple's systems.
    ///
    /// A simulated world reports a finding instead.
    public func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any]) {
        peripheral.raiseForMissingRestoration("peripheralManager(_:willRestoreState:)")
    }
    /// Does nothing.
    public func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {}
    /// Does nothing.
    public func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {}
    /// Does nothing.
    ///
    /// A simulated world reports a finding if the app was woken in the background for this call.
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
    /// Refuses the request, so that the central does not have to wait for an app that does not answer reads.
    public func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        peripheral.session.reportMissing("peripheralManager(_:didReceiveRead:)")
        peripheral.respond(to: request, withResult: .requestNotSupported)
    }
    /// Refuses the requests, so that the central does not have to wait for an app that does not answer writes.
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
