/// The optional methods of a ``CBPeripheralManagerDelegate``, for code that calls them as on Apple's systems.
///
/// There, optional methods are called with `?` or `!` after their name. Here all methods exist, with default
/// implementations; this type makes such calls compile.
public struct CBPeripheralManagerDelegateMethods {
    private let delegate: any CBPeripheralManagerDelegate

    init(_ delegate: any CBPeripheralManagerDelegate) { self.delegate = delegate }

    /// Calls `peripheralManager(_:willRestoreState:)`.
    public func callAsFunction(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any]) {
        delegate.peripheralManager(peripheral, willRestoreState: dict)
    }

    /// Calls `peripheralManagerDidStartAdvertising(_:error:)`.
    public func callAsFunction(_ peripheral: CBPeripheralManager, error: (any Error)?) {
        delegate.peripheralManagerDidStartAdvertising(peripheral, error: error)
    }

    /// Calls `peripheralManager(_:didAdd:error:)`.
    public func callAsFunction(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
        delegate.peripheralManager(peripheral, didAdd: service, error: error)
    }

    /// Calls `peripheralManager(_:central:didSubscribeTo:)`.
    public func callAsFunction(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didSubscribeTo characteristic: CBCharacteristic
    ) {
        delegate.peripheralManager(peripheral, central: central, didSubscribeTo: characteristic)
    }

    /// Calls `peripheralManager(_:central:didUnsubscribeFrom:)`.
    public func callAsFunction(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didUnsubscribeFrom characteristic: CBCharacteristic
    ) {
        delegate.peripheralManager(peripheral, central: central, didUnsubscribeFrom: characteristic)
    }

    /// Calls `peripheralManager(_:didReceiveRead:)`.
    public func callAsFunction(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        delegate.peripheralManager(peripheral, didReceiveRead: request)
    }

    /// Calls `peripheralManager(_:didReceiveWrite:)`.
    public func callAsFunction(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        delegate.peripheralManager(peripheral, didReceiveWrite: requests)
    }

    /// Calls `peripheralManagerIsReady(toUpdateSubscribers:)`.
    public func callAsFunction(toUpdateSubscribers peripheral: CBPeripheralManager) {
        delegate.peripheralManagerIsReady(toUpdateSubscribers: peripheral)
    }

    /// Calls `peripheralManager(_:didPublishL2CAPChannel:error:)`.
    public func callAsFunction(
        _ peripheral: CBPeripheralManager,
        didPublishL2CAPChannel PSM: CBL2CAPPSM,
        error: (any Error)?
    ) {
        delegate.peripheralManager(peripheral, didPublishL2CAPChannel: PSM, error: error)
    }

    /// Calls `peripheralManager(_:didUnpublishL2CAPChannel:error:)`.
    public func callAsFunction(
        _ peripheral: CBPeripheralManager,
        didUnpublishL2CAPChannel PSM: CBL2CAPPSM,
        error: (any Error)?
    ) {
        delegate.peripheralManager(peripheral, didUnpublishL2CAPChannel: PSM, error: error)
    }

    /// Calls `peripheralManager(_:didOpen:error:)`.
    public func callAsFunction(_ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: (any Error)?)
    {
        delegate.peripheralManager(peripheral, didOpen: channel, error: error)
    }
}

extension CBPeripheralManagerDelegate {
    /// A value that can be called like the delegate's methods of this name, so that `peripheralManager?(…)` compiles.
    @_disfavoredOverload
    public var peripheralManager: CBPeripheralManagerDelegateMethods? { CBPeripheralManagerDelegateMethods(self) }

    /// A value that can be called like the delegate's methods of this name, so that
    /// `peripheralManagerDidStartAdvertising?(…)` compiles.
    @_disfavoredOverload
    public var peripheralManagerDidStartAdvertising: CBPeripheralManagerDelegateMethods? {
        CBPeripheralManagerDelegateMethods(self)
    }

    /// A value that can be called like the delegate's methods of this name, so that `peripheralManagerIsReady?(…)`
    /// compiles.
    @_disfavoredOverload
    public var peripheralManagerIsReady: CBPeripheralManagerDelegateMethods? {
        CBPeripheralManagerDelegateMethods(self)
    }
}
