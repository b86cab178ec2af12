public import Foundation

/// The optional methods of a ``CBPeripheralDelegate``, for code that calls them as on Apple's systems.
///
/// There, optional methods are called with `?` or `!` after their name. Here all methods exist, with default
/// implementations; this type makes such calls compile.
public struct CBPeripheralDelegateMethods {
    private let delegate: any CBPeripheralDelegate

    init(_ delegate: any CBPeripheralDelegate) { self.delegate = delegate }

    /// Calls `peripheralDidUpdateName(_:)`.
    public func callAsFunction(_ peripheral: CBPeripheral) {
        delegate.peripheralDidUpdateName(peripheral)
    }

    /// Calls `peripheral(_:didModifyServices:)`.
    public func callAsFunction(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService]) {
        delegate.peripheral(peripheral, didModifyServices: invalidatedServices)
    }

    /// Calls `peripheralDidUpdateRSSI(_:error:)`.
    @available(*, deprecated, message: "Use peripheral(_:didReadRSSI:error:) instead.")
    public func callAsFunction(_ peripheral: CBPeripheral, error: (any Error)?) {
        delegate.peripheralDidUpdateRSSI(peripheral, error: error)
    }

    /// Calls `peripheral(_:didReadRSSI:error:)`.
    public func callAsFunction(_ peripheral: CBPeripheral, didReadRSSI RSSI: NSNumber, error: (any Error)?) {
        delegate.peripheral(peripheral, didReadRSSI: RSSI, error: error)
    }

    /// Calls `peripheral(_:didDiscoverServices:)`.
    public func callAsFunction(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        delegate.peripheral(peripheral, didDiscoverServices: error)
    }

    /// Calls `peripheral(_:didDiscoverIncludedServicesFor:error:)`.
    public func callAsFunction(
        _ peripheral: CBPeripheral,
        didDiscoverIncludedServicesFor service: CBService,
        error: (any Error)?
    ) {
        delegate.peripheral(peripheral, didDiscoverIncludedServicesFor: service, error: error)
    }

    /// Calls `peripheral(_:didDiscoverCharacteristicsFor:error:)`.
    public func callAsFunction(
        _ peripheral: CBPeripheral,
        didDiscoverCharacteristicsFor service: CBService,
        error: (any Error)?
    ) {
        delegate.peripheral(peripheral, didDiscoverCharacteristicsFor: service, error: error)
    }

    /// Calls `peripheral(_:didUpdateValueFor:error:)`.
    public func callAsFunction(
        _ peripheral: CBPeripheral,
        didUpdateValueFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        delegate.peripheral(peripheral, didUpdateValueFor: characteristic, error: error)
    }

    /// Calls `peripheral(_:didWriteValueFor:error:)`.
    public func callAsFunction(
        _ peripheral: CBPeripheral,
        didWriteValueFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        delegate.peripheral(peripheral, didWriteValueFor: characteristic, error: error)
    }

    /// Calls `peripheral(_:didUpdateNotificationStateFor:error:)`.
    public func callAsFunction(
        _ peripheral: CBPeripheral,
        didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        delegate.peripheral(peripheral, didUpdateNotificationStateFor: characteristic, error: error)
    }

    /// Calls `peripheral(_:didDiscoverDescriptorsFor:error:)`.
    public func callAsFunction(
        _ peripheral: CBPeripheral,
        didDiscoverDescriptorsFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        delegate.peripheral(peripheral, didDiscoverDescriptorsFor: characteristic, error: error)
    }

    /// Calls `peripheral(_:didUpdateValueFor:error:)`.
    public func callAsFunction(
        _ peripheral: CBPeripheral,
        didUpdateValueFor descriptor: CBDescriptor,
        error: (any Error)?
    ) {
        delegate.peripheral(peripheral, didUpdateValueFor: descriptor, error: error)
    }

    /// Calls `peripheral(_:didWriteValueFor:error:)`.
    public func callAsFunction(
        _ peripheral: CBPeripheral,
        didWriteValueFor descriptor: CBDescriptor,
        error: (any Error)?
    ) {
        delegate.peripheral(peripheral, didWriteValueFor: descriptor, error: error)
    }

    /// Calls `peripheralIsReady(toSendWriteWithoutResponse:)`.
    public func callAsFunction(toSendWriteWithoutResponse peripheral: CBPeripheral) {
        delegate.peripheralIsReady(toSendWriteWithoutResponse: peripheral)
    }

    /// Calls `peripheral(_:didOpen:error:)`.
    public func callAsFunction(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
        delegate.peripheral(peripheral, didOpen: channel, error: error)
    }

    /// Calls `peripheral(_:didReceive:error:)`.
    public func callAsFunction(
        _ peripheral: CBPeripheral,
        didReceive results: CBChannelSoundingProcedureResults?,
        error: (any Error)?
    ) {
        delegate.peripheral(peripheral, didReceive: results, error: error)
    }

    /// Calls `peripheral(_:didCompleteChannelSoundingSession:)`.
    public func callAsFunction(_ peripheral: CBPeripheral, didCompleteChannelSoundingSession error: (any Error)?) {
        delegate.peripheral(peripheral, didCompleteChannelSoundingSession: error)
    }
}

extension CBPeripheralDelegate {
    /// A value that can be called like the delegate's methods of this name, so that `peripheral?(…)` compiles.
    @_disfavoredOverload
    public var peripheral: CBPeripheralDelegateMethods? { CBPeripheralDelegateMethods(self) }

    /// A value that can be called like the delegate's methods of this name, so that `peripheralDidUpdateName?(…)`
    /// compiles.
    @_disfavoredOverload
    public var peripheralDidUpdateName: CBPeripheralDelegateMethods? { CBPeripheralDelegateMethods(self) }

    /// A value that can be called like the delegate's methods of this name, so that `peripheralDidUpdateRSSI?(…)`
    /// compiles.
    @_disfavoredOverload
    public var peripheralDidUpdateRSSI: CBPeripheralDelegateMethods? { CBPeripheralDelegateMethods(self) }

    /// A value that can be called like the delegate's methods of this name, so that `peripheralIsReady?(…)` compiles.
    @_disfavoredOverload
    public var peripheralIsReady: CBPeripheralDelegateMethods? { CBPeripheralDelegateMethods(self) }
}
