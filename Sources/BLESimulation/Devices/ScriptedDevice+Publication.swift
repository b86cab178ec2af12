import BLEHost
import BLEWire

extension ScriptedDevice {
    /// What makes the services known and the device found.
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
        requests.append(.server(.startAdvertising(advertisement)))
        return requests
    }

    private var advertisement: AdvertisingRequest {
        let advertised = peripheral.services.filter { $0.isAdvertised && $0.isPrimary }
            .compactMap { BluetoothUUID($0.uuid) }
        var request = AdvertisingRequest(localName: peripheral.name, services: advertised)
        guard
            peripheral.manufacturerData != nil || !peripheral.serviceData.isEmpty || peripheral.transmitPower != nil
                || !peripheral.isConnectable
        else { return request }
        var broadcast = BroadcastRequest()
        broadcast.manufacturerData = peripheral.manufacturerData
        broadcast.serviceData = peripheral.serviceData.compactMap { datum in
            BluetoothUUID(datum.service).map { AdvertisingData.ServiceData(service: $0, data: datum.value) }
        }
        broadcast.statedPower = peripheral.transmitPower
        broadcast.isConnectable = peripheral.isConnectable
        request.broadcast = broadcast
        return request
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
    /// The same as the host has it.
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
    /// The same as the host has it.
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
    /// The same as the host has it.
    var host: ConnectionLatency {
        switch self {
        case .low: .low
        case .medium: .medium
        case .high: .high
        }
    }
}
