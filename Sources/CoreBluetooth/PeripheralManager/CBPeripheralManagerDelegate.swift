public import Foundation

/// The methods that a peripheral manager calls on its queue.
///
/// Only ``peripheralManagerDidUpdateState(_:)`` is required.
public protocol CBPeripheralManagerDelegate: NSObjectProtocol {
    /// The manager's state has changed.
    ///
    /// Below ``CBManagerState/poweredOn``, advertising has stopped and all centrals are disconnected. Below
    /// ``CBManagerState/poweredOff``, the services are removed, too, and must be added again.
    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager)
    /// The system has restored the state of an earlier launch of the app. Called once per launch, before all other
    /// methods.
    ///
    /// `dict` contains ``CBPeripheralManagerRestoredStateServicesKey`` if there were services, and
    /// ``CBPeripheralManagerRestoredStateAdvertisementDataKey`` if they were advertised. Commands are not accepted yet.
    func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any])
    /// Advertising has started, or failed.
    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?)
    /// A service was published, or could not be.
    func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?)
    /// A central has subscribed to a characteristic.
    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didSubscribeTo characteristic: CBCharacteristic
    )
    /// A central has unsubscribed from a characteristic, or was disconnected.
    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didUnsubscribeFrom characteristic: CBCharacteristic
    )
    /// A central reads a value; answer with ``CBPeripheralManager/respond(to:withResult:)``.
    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest)
    /// A central writes values, all or none; answer the first of `requests`, once.
    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest])
    /// There is space again for updates, after ``CBPeripheralManager/updateValue(_:for:onSubscribedCentrals:)``
    /// returned `false`.
    func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager)
    /// An L2CAP service was published, or could not be.
    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        didPublishL2CAPChannel PSM: CBL2CAPPSM,
        error: (any Error)?
    )
    /// An L2CAP service was unpublished.
    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        didUnpublishL2CAPChannel PSM: CBL2CAPPSM,
        error: (any Error)?
    )
    /// A central has opened an L2CAP channel.
    func peripheralManager(_ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: (any Error)?)
}

// Apple's protocol marks these optional; a default is what an absent method does.
extension CBPeripheralManagerDelegate {
    /// Ends the program if the manager has a restore identifier: as on Apple's systems, such an app must implement the
    /// method.
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
    /// A simulated world reports a finding if the app is woken for it in the background.
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
    /// Refuses the request, so that the central need not wait for an app that does not answer reads.
    public func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        peripheral.session.reportMissing("peripheralManager(_:didReceiveRead:)")
        peripheral.respond(to: request, withResult: .requestNotSupported)
    }
    /// Refuses the requests, so that the central need not wait for an app that does not answer writes.
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
