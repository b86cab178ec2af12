import BLEHost
import BLERuntime
import BLEWire
import Foundation

/// A call to a peripheral's delegate, with its arguments.
///
/// An attribute object gets its new value only when the call is made, so that each delegate method sees the value that
/// it is called for.
enum PeripheralDelegateCall: Equatable {
    case nameUpdated
    case servicesModified([CBService])
    case rssiRead(Result<RSSI, Failure>)
    case servicesDiscovered(Failure?)
    case includedServicesDiscovered(CBService, Failure?)
    case characteristicsDiscovered(CBService, Failure?)
    case descriptorsDiscovered(CBCharacteristic, Failure?)
    case valueRead(CBCharacteristic, Result<[UInt8], Failure>)
    case valueWritten(CBCharacteristic, Failure?)
    case descriptorRead(CBDescriptor, Result<[UInt8], Failure>)
    case descriptorWritten(CBDescriptor, Failure?)
    /// A request to subscribe or unsubscribe has ended; the subscription is `nil` if it has not changed.
    case subscriptionChanged(CBCharacteristic, Subscription?, Failure?)
    case readyToWrite
    case channelOpened(Result<OpenedChannel, Failure>)
    case soundingCompleted(Failure)
    /// No delegate call: characteristics were removed, so their subscriptions have ended.
    case subscriptionsEnded([CBCharacteristic])
    /// No delegate call: a channel was opened, but the app no longer waits for it, so it is closed.
    case channelUnwanted(OpenedChannel)

    /// Updates the objects and calls `delegate`, on the manager's queue, without holding a lock.
    func make(by peripheral: CBPeripheral, to delegate: (any CBPeripheralDelegate)?) {
        switch self {
        case .nameUpdated: delegate?.peripheralDidUpdateName(peripheral)
        case .servicesModified(let gone): delegate?.peripheral(peripheral, didModifyServices: gone)
        case .rssiRead(let result):
            let rssi = (try? result.get()) ?? .unavailable
            delegate?.peripheral(peripheral, didReadRSSI: rssi.number, error: result.failure?.attributeError)
        case .servicesDiscovered(let failure):
            delegate?.peripheral(peripheral, didDiscoverServices: failure?.attributeError)
        case .includedServicesDiscovered(let service, let failure):
            let error = failure?.attributeError
            delegate?.peripheral(peripheral, didDiscoverIncludedServicesFor: service, error: error)
        case .characteristicsDiscovered(let service, let failure):
            let error = failure?.attributeError
            delegate?.peripheral(peripheral, didDiscoverCharacteristicsFor: service, error: error)
        case .descriptorsDiscovered(let characteristic, let failure):
            let error = failure?.attributeError
            delegate?.peripheral(peripheral, didDiscoverDescriptorsFor: characteristic, error: error)
        case .valueRead(let characteristic, let result):
            if case .success(let octets) = result { characteristic.setValue(octets: octets) }
            let error = result.failure?.attributeError
            delegate?.peripheral(peripheral, didUpdateValueFor: characteristic, error: error)
        case .valueWritten(let characteristic, let failure):
            delegate?.peripheral(peripheral, didWriteValueFor: characteristic, error: failure?.attributeError)
        case .descriptorRead(let descriptor, let result):
            if case .success(let octets) = result { descriptor.setValue(octets) }
            let error = result.failure?.attributeError
            delegate?.peripheral(peripheral, didUpdateValueFor: descriptor, error: error)
        case .descriptorWritten(let descriptor, let failure):
            delegate?.peripheral(peripheral, didWriteValueFor: descriptor, error: failure?.attributeError)
        case .subscriptionChanged(let characteristic, let subscription, let failure):
            if let subscription { characteristic.subscription = subscription }
            let error = failure?.attributeError
            delegate?.peripheral(peripheral, didUpdateNotificationStateFor: characteristic, error: error)
        case .readyToWrite: delegate?.peripheralIsReady(toSendWriteWithoutResponse: peripheral)
        case .channelOpened(.success(let opened)):
            guard let channel = peripheral.reference.manager?.adopt(opened, with: peripheral) else { return }
            delegate?.peripheral(peripheral, didOpen: channel, error: nil)
        case .channelOpened(.failure(let failure)):
            delegate?.peripheral(peripheral, didOpen: nil, error: failure.error(about: .channel))
        case .soundingCompleted(let failure):
            delegate?.peripheral(peripheral, didCompleteChannelSoundingSession: failure.attributeError)
        case .subscriptionsEnded(let gone):
            for characteristic in gone { characteristic.subscription = .none }
        case .channelUnwanted(let opened): peripheral.session.send(.channel(opened.id, .close))
        }
    }
}

extension Failure {
    fileprivate var attributeError: any Error { error(about: .attribute) }
}

extension Result<[UInt8], Failure> {
    fileprivate var failure: Failure? { if case .failure(let failure) = self { failure } else { nil } }
}

extension Result<RSSI, Failure> {
    fileprivate var failure: Failure? { if case .failure(let failure) = self { failure } else { nil } }
}
