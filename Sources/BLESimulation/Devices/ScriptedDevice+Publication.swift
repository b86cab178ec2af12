import BLEHost
import BLEWire

extension ScriptedDevice {
    /// The requests that publish the services and start advertising.
    var publication: [ClientRequest] {
        var requests: [ClientRequest] = [.service(.removeAllServices)]
        var next = 0, number = UInt32(attributes.count)
        func makeID() -> LocalAttributeID {
            defer { number += 1 }
            return LocalAttributeID(rawValue: number)
        }
        var known: [(uuid: BluetoothUUID, id: LocalAttributeID)] = []
        for service in peripheral.services {
            guard let uuid = BluetoothUUID(service.uuid) else { continue }
            let range = next..<(next + service.characteristics.count)
            next = range.upperBound
            let id = makeID()
            let definition = ServiceDefinition(
                id: id,
                uuid: uuid,
                isPrimary: service.isPrimary,
                includes: service.includes.compactMap { part in
                    known.last { $0.uuid == BluetoothUUID(part) }?.id
                },
                characteristics: range.map { Self.definition(of: attributes[$0], makeID) }
            )
            known.append((uuid, id))
            requests.append(.service(.addService(definition)))
        }
        requests.append(.server(.startAdvertising(peripheral.advertisingRequest)))
        return requests
    }

    private static func definition(
        of attribute: Attribute,
        _ makeID: () -> LocalAttributeID
    ) -> CharacteristicDefinition {
        let characteristic = attribute.characteristic
        return CharacteristicDefinition(
            id: attribute.id,
            uuid: attribute.uuid,
            properties: CharacteristicProperties(characteristic.publishedProperties.map(\.host)),
            permissions: AttributePermissions(characteristic.publishedPermissions.map(\.host)),
            descriptors: characteristic.descriptors.compactMap { descriptor in
                BluetoothUUID(descriptor.uuid).map {
                    DescriptorDefinition(id: makeID(), uuid: $0, value: descriptor.value)
                }
            }
        )
    }
}

extension SimulatedPeripheral.Property {
    /// The property as the host represents it.
    fileprivate var host: CharacteristicProperties {
        switch self {
        case .read: .read
        case .write: .write
        case .writeWithoutResponse: .writeWithoutResponse
        case .notify: .notify
        case .indicate: .indicate
        case .authenticatedSignedWrites: .authenticatedSignedWrites
        case .notifyEncryptionRequired: .notifyEncryptionRequired
        case .indicateEncryptionRequired: .indicateEncryptionRequired
        }
    }
}

extension SimulatedPeripheral.Permission {
    /// The permission as the host represents it.
    fileprivate var host: AttributePermissions {
        switch self {
        case .readable: .readable
        case .writeable: .writeable
        case .readEncryptionRequired: .readEncryptionRequired
        case .writeEncryptionRequired: .writeEncryptionRequired
        }
    }
}

extension SimulatedPeripheral.Latency {
    /// The latency as the host represents it.
    var host: ConnectionLatency {
        switch self {
        case .low: .low
        case .medium: .medium
        case .high: .high
        }
    }
}
