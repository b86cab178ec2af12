public import Foundation

/// The optional methods of a ``CBCentralManagerDelegate``, for code that calls them as on Apple's systems.
///
/// There, optional methods are called with `?` or `!` after their name. Here all methods exist, with default
/// implementations; this type makes such calls compile.
public struct CBCentralManagerDelegateMethods {
    private let delegate: any CBCentralManagerDelegate

    init(_ delegate: any CBCentralManagerDelegate) { self.delegate = delegate }

    /// Calls `centralManager(_:willRestoreState:)`.
    public func callAsFunction(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        delegate.centralManager(central, willRestoreState: dict)
    }

    /// Calls `centralManager(_:didDiscover:advertisementData:rssi:)`.
    public func callAsFunction(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        delegate.centralManager(central, didDiscover: peripheral, advertisementData: advertisementData, rssi: RSSI)
    }

    /// Calls `centralManager(_:didConnect:)`.
    public func callAsFunction(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        delegate.centralManager(central, didConnect: peripheral)
    }

    /// Calls `centralManager(_:didFailToConnect:error:)`.
    public func callAsFunction(
        _ central: CBCentralManager,
        didFailToConnect peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        delegate.centralManager(central, didFailToConnect: peripheral, error: error)
    }

    /// Calls `centralManager(_:didDisconnectPeripheral:error:)`.
    public func callAsFunction(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        delegate.centralManager(central, didDisconnectPeripheral: peripheral, error: error)
    }

    /// Calls `centralManager(_:didDisconnectPeripheral:timestamp:isReconnecting:error:)`.
    public func callAsFunction(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        timestamp: CFAbsoluteTime,
        isReconnecting: Bool,
        error: (any Error)?
    ) {
        delegate.centralManager(
            central,
            didDisconnectPeripheral: peripheral,
            timestamp: timestamp,
            isReconnecting: isReconnecting,
            error: error
        )
    }

    /// Calls `centralManager(_:connectionEventDidOccur:for:)`.
    public func callAsFunction(
        _ central: CBCentralManager,
        connectionEventDidOccur event: CBConnectionEvent,
        for peripheral: CBPeripheral
    ) {
        delegate.centralManager(central, connectionEventDidOccur: event, for: peripheral)
    }

    /// Calls `centralManager(_:didUpdateANCSAuthorizationFor:)`.
    public func callAsFunction(_ central: CBCentralManager, didUpdateANCSAuthorizationFor peripheral: CBPeripheral) {
        delegate.centralManager(central, didUpdateANCSAuthorizationFor: peripheral)
    }
}

extension CBCentralManagerDelegate {
    /// A value that can be called like the delegate's methods of this name, so that `centralManager?(…)` compiles.
    @_disfavoredOverload
    public var centralManager: CBCentralManagerDelegateMethods? { CBCentralManagerDelegateMethods(self) }
}
