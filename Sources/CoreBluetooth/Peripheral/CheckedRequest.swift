package import BLEHost
import BLERuntime
import BLEWire
import Foundation

/// An app's request, after a check whether its attribute currently belongs to the peripheral.
package enum CheckedRequest {
    /// The host can carry out the request.
    case valid(PeerRequest)
    /// The result of the request is known without asking the peripheral.
    case answered(PeerRequest, PeerEvent)
    /// The app's call cannot become a request, normally because the attribute does not belong to the peripheral.
    case refused(Refusal)

    /// The delegate call for a refused request.
    package struct Refusal {
        let call: PeripheralDelegateCall
    }

    static func refused(_ call: PeripheralDelegateCall) -> Self { .refused(Refusal(call: call)) }

    /// Returns a request that fails without asking the peripheral.
    fileprivate static func failed(_ request: PeerRequest, _ failure: Failure) -> Self {
        .answered(request, request.answer(failure))
    }
}

// The requests that apps can make, checked but not yet made.
extension CBPeripheral {
    /// Returns the request to discover the services of the given types, or all if `types` is `nil` or empty.
    package func serviceDiscovery(_ types: [CBUUID]?) -> CheckedRequest {
        .valid(.discoverServices(only: types?.map(\.value) ?? []))
    }

    /// Returns the request to discover the included services of the given types, or all if `types` is `nil` or empty.
    package func includedServiceDiscovery(_ types: [CBUUID]?, in service: CBService) -> CheckedRequest {
        guard let range = service.range, owns(service) else {
            return .refused(.includedServicesDiscovered(service, .notFound))
        }
        return .valid(.discoverIncludedServices(in: range, only: types?.map(\.value) ?? []))
    }

    /// Returns the request to discover the characteristics of the given types, or all if `types` is `nil` or empty.
    package func characteristicDiscovery(_ types: [CBUUID]?, in service: CBService) -> CheckedRequest {
        guard let range = service.range, owns(service) else {
            return .refused(.characteristicsDiscovered(service, .notFound))
        }
        return .valid(.discoverCharacteristics(in: range, only: types?.map(\.value) ?? []))
    }

    /// Returns the request to discover the descriptors of `characteristic`.
    package func descriptorDiscovery(of characteristic: CBCharacteristic) -> CheckedRequest {
        guard let handles = characteristic.handles, owns(characteristic) else {
            return .refused(.descriptorsDiscovered(characteristic, .notFound))
        }
        return .valid(.discoverDescriptors(of: handles.value, in: handles.descriptors))
    }

    /// Returns the request to read the value of `characteristic`.
    package func readRequest(for characteristic: CBCharacteristic) -> CheckedRequest {
        guard let handle = characteristic.handles?.value, owns(characteristic) else {
            return .refused(.valueRead(characteristic, .failure(.notFound)))
        }
        let request = PeerRequest.read(handle)
        return characteristic.properties.contains(.read) ? .valid(request) : .failed(request, .att(.readNotPermitted))
    }

    /// Returns the request to write `data` to `characteristic`, with a response.
    package func writeRequest(_ data: Data, for characteristic: CBCharacteristic) -> CheckedRequest {
        guard let handle = characteristic.handles?.value, owns(characteristic) else {
            return .refused(.valueWritten(characteristic, .notFound))
        }
        guard characteristic.properties.contains(.write) else {
            return .failed(.write(handle, []), .att(.writeNotPermitted))
        }
        return writeRequest(data, at: handle)
    }

    /// Returns the request to subscribe to `characteristic`, or to unsubscribe from it.
    package func subscriptionRequest(_ enabled: Bool, for characteristic: CBCharacteristic) -> CheckedRequest {
        guard let handles = characteristic.handles, owns(characteristic) else {
            return .refused(.subscriptionChanged(characteristic, nil, .notFound))
        }
        let properties = characteristic.properties
        guard !properties.isDisjoint(with: [.notify, .indicate]) else {
            return .failed(.subscribe(.none, to: handles.value, in: handles.descriptors), .att(.requestNotSupported))
        }
        let wanted: Subscription = !enabled ? .none : properties.contains(.notify) ? .notifications : .indications
        let request = PeerRequest.subscribe(wanted, to: handles.value, in: handles.descriptors)
        let isChanging = record.withLock { $0.requests.isChanging(handles.value) }
        guard isChanging || characteristic.isNotifying != enabled else {
            return .answered(request, .subscriptionChanged(handles.value, characteristic.subscription, nil))
        }
        return .valid(request)
    }

    /// Returns the request to read the value of `descriptor`.
    package func readRequest(for descriptor: CBDescriptor) -> CheckedRequest {
        guard let handle = descriptor.handle, owns(descriptor) else {
            return .refused(.descriptorRead(descriptor, .failure(.notFound)))
        }
        return .valid(.read(handle))
    }

    /// Returns the request to write `data` to `descriptor`; ends the program if that is a Client Characteristic
    /// Configuration descriptor (2902).
    package func writeRequest(_ data: Data, for descriptor: CBDescriptor) -> CheckedRequest {
        if descriptor.uuid.value == .short(0x2902) {
            raise(
                "Client Characteristic Configuration descriptors must be configured using "
                    + "setNotifyValue:forCharacteristic:"
            )
        }
        guard let handle = descriptor.handle, owns(descriptor) else {
            return .refused(.descriptorWritten(descriptor, .notFound))
        }
        return writeRequest(data, at: handle)
    }

    /// Returns the request to open an L2CAP channel.
    func channelRequest(_ psm: CBL2CAPPSM) -> CheckedRequest {
        // Core 6.0, Vol 3, Part A, 4.22.
        let request = PeerRequest.openChannel(SPSM(wire: psm))
        return (0x0001...0x00FF).contains(psm) ? .valid(request) : .failed(request, .invalidParameters)
    }

    private func writeRequest(_ data: Data, at handle: AttributeHandle) -> CheckedRequest {
        guard data.count <= ValueLength.longest else {
            return .failed(.write(handle, []), .att(.invalidAttributeValueLength))
        }
        return .valid(.write(handle, [UInt8](octetsOf: data)))
    }

    private func owns(_ service: CBService) -> Bool {
        record.withLock { record in service.range.flatMap { record.database.service(in: $0) } } === service
    }

    private func owns(_ descriptor: CBDescriptor) -> Bool {
        record.withLock { record in
            descriptor.handle.flatMap { record.database.descriptor($0) }
        } === descriptor
    }
}
