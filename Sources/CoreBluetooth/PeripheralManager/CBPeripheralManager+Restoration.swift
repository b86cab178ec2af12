import BLEHost
import BLEWire
import Foundation

extension CBPeripheralManager {
    /// Restores the state that an earlier launch of the app left behind, and calls the delegate.
    func restore(_ state: PreservedPeripheral) {
        let services = state.services.map(RestoredService.init)
        content.withLock { content in
            for service in services { content.services.restore(service, by: reference) }
            if let advertisement = state.advertisement { content.advertising = AdvertisingState(advertisement) }
        }
        for subscriber in state.subscribers {
            content.withLock { $0.services.characteristic(subscriber.characteristic) }?
                .subscribe(central(subscriber.central))
        }
        var dictionary: [String: Any] = [:]
        if !services.isEmpty { dictionary[CBPeripheralManagerRestoredStateServicesKey] = services.map(\.service) }
        if let advertisement = state.advertisement {
            dictionary[CBPeripheralManagerRestoredStateAdvertisementDataKey] = advertisement.dictionary
        }
        delegate?.peripheralManager(self, willRestoreState: dictionary)
    }
}

extension AdvertisingRequest {
    /// The advertisement from an earlier launch, as a dictionary for the delegate.
    ///
    /// The UUIDs of the services are `Data`, as on Apple's systems.
    fileprivate var dictionary: [String: Any] {
        var dictionary: [String: Any] = [:]
        if let localName { dictionary[CBAdvertisementDataLocalNameKey] = localName }
        if !services.isEmpty { dictionary[CBAdvertisementDataServiceUUIDsKey] = services.map { CBUUID($0).data } }
        return dictionary
    }
}

/// A service from an earlier launch, rebuilt from its definition.
struct RestoredService {
    let service: CBMutableService
    let characteristics: [CBMutableCharacteristic]
    let definition: ServiceDefinition

    init(_ definition: ServiceDefinition) {
        self.definition = definition
        service = CBMutableService(type: CBUUID(definition.uuid), primary: definition.isPrimary)
        characteristics = definition.characteristics.map(CBMutableCharacteristic.init)
        service.characteristics = characteristics
    }
}

extension CBMutableCharacteristic {
    fileprivate convenience init(_ definition: CharacteristicDefinition) {
        self.init(
            type: CBUUID(definition.uuid),
            properties: CBCharacteristicProperties(rawValue: UInt(definition.properties.rawValue)),
            value: definition.value.map { Data($0) },
            permissions: CBAttributePermissions(rawValue: UInt(definition.permissions.rawValue))
        )
        descriptors = definition.descriptors.map { CBMutableDescriptor(type: CBUUID($0.uuid), octets: $0.value ?? []) }
    }
}
