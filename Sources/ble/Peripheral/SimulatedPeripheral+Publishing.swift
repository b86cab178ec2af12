import BLESimulation
import CoreBluetooth
import CoreBluetoothExtras

extension CBMutableCharacteristic {
    /// Creates an app's characteristic from a simulated one.
    ///
    /// The created characteristic stores no value: the app serves reads and writes itself.
    convenience init(_ characteristic: SimulatedPeripheral.Characteristic) {
        self.init(
            type: CBUUID(string: characteristic.uuid),
            properties: CBCharacteristicProperties(characteristic.publishedProperties.map(\.published)),
            value: nil,
            permissions: CBAttributePermissions(characteristic.publishedPermissions.map(\.published))
        )
        descriptors = characteristic.descriptors.compactMap { CBMutableDescriptor($0) }
    }

    /// True if centrals, or at least paired centrals, can subscribe to the value.
    var sendsValues: Bool {
        !properties.isDisjoint(with: [.notify, .indicate, .notifyEncryptionRequired, .indicateEncryptionRequired])
    }
}

extension CBMutableDescriptor {
    /// Creates an app's descriptor from a simulated one; `nil` if the host publishes this type by itself.
    convenience init?(_ descriptor: SimulatedPeripheral.Descriptor) {
        let type = CBUUID(string: descriptor.uuid)
        let own = ["2800", "2801", "2802", "2803", "2900", "2902"]
        guard !own.contains(type.uuidString) else { return nil }
        self.init(type: type, octets: descriptor.value)
    }
}

extension SimulatedPeripheral.Property {
    /// The corresponding Core Bluetooth value.
    fileprivate var published: CBCharacteristicProperties {
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
    /// The corresponding Core Bluetooth value.
    fileprivate var published: CBAttributePermissions {
        switch self {
        case .readable: .readable
        case .writeable: .writeable
        case .readEncryptionRequired: .readEncryptionRequired
        case .writeEncryptionRequired: .writeEncryptionRequired
        }
    }
}

extension SimulatedPeripheral.Latency {
    /// The corresponding Core Bluetooth value.
    var published: CBPeripheralManagerConnectionLatency {
        switch self {
        case .low: .low
        case .medium: .medium
        case .high: .high
        }
    }
}

extension SimulatedPeripheral {
    /// The advertised services.
    private var advertisedServices: [CBUUID] {
        services.filter { $0.isAdvertised && $0.isPrimary }.map { CBUUID(string: $0.uuid) }
    }

    /// The advertisement as a dictionary for `startAdvertising(_:)`; `nil` if it contains more than Core Bluetooth lets
    /// apps advertise.
    var advertisementData: [String: Any]? {
        guard isAdvertisedByApps else { return nil }
        return [CBAdvertisementDataLocalNameKey: name, CBAdvertisementDataServiceUUIDsKey: advertisedServices]
    }

    /// The complete advertisement, which may contain more than Core Bluetooth lets apps advertise.
    var broadcast: BroadcastAdvertisement {
        var advertisement = BroadcastAdvertisement()
        advertisement.isConnectable = isConnectable
        advertisement.isExtended = isExtended
        if self.advertisement != nil || scanResponse != nil {
            advertisement.packets = (Data(self.advertisement ?? []), Data(scanResponse ?? []))
            return advertisement
        }
        advertisement.localName = advertisesName ? name : nil
        advertisement.flags = flags
        advertisement.services = advertisedServices
        advertisement.manufacturerData = manufacturerData.map { Data($0) }
        advertisement.serviceData = serviceData.map { (CBUUID(string: $0.service), Data($0.value)) }
        advertisement.statedPower = transmitPower.map(Int.init)
        return advertisement
    }
}
