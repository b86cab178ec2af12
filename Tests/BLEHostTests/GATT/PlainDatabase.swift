import BLEWire

@testable import BLEHost

extension GATTDatabase {
    /// A database whose Generic Attribute service has nothing but Service Changed, at 8: services of apps begin at 10.
    static func plain(deviceName: String = "", appearance: UInt16 = 0) -> Self {
        var database = Self()
        var access = AttributeBuilder(from: .init(wire: 1))
        access.declareService(GATT.genericAccess, isPrimary: true)
        access.declareCharacteristic(GATT.deviceName, .read)
        access.append(GATT.deviceName, .readable, .constant([UInt8](deviceName.utf8)))
        access.declareCharacteristic(GATT.appearance, .read)
        access.append(GATT.appearance, .readable, .constant(appearance.littleEndianOctets))
        database.append(GATT.genericAccess, access.attributes)
        var attribute = AttributeBuilder(from: .init(wire: 6))
        attribute.declareService(GATT.genericAttribute, isPrimary: true)
        let value = attribute.declareCharacteristic(GATT.serviceChanged, .indicate)
        attribute.append(GATT.serviceChanged, [], .constant([]))
        let about = ConfiguredCharacteristic(value: value, properties: .indicate, owner: nil)
        attribute.append(GATT.clientConfiguration, [.readable, .writeable], .configuration(about))
        database.append(GATT.genericAttribute, attribute.attributes)
        return database
    }

    private mutating func append(_ uuid: BluetoothUUID, _ members: [Attribute]) {
        guard let first = members.first, let last = members.last,
            let range = AttributeHandleRange(first.handle, last.handle)
        else { return }
        append(Service(range: range, uuid: uuid, isPrimary: true, owner: nil), members)
    }
}
