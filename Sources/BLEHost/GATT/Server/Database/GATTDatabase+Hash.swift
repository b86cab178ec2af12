import BLECrypto
import BLEWire

extension GATTDatabase {
    /// Computes the Database Hash: the AES-CMAC of the structure of the database, with an all-zero key.
    ///
    /// | attributes | hashed parts |
    /// | --- | --- |
    /// | service, include and characteristic declarations, Extended Properties | handle, type and value |
    /// | the other descriptors that GATT defines | handle and type |
    /// | all others | none |
    ///
    /// Core 6.0, Vol 3, Part G, 7.3.1.
    func computeHash() -> UInt128 {
        var message: [UInt8] = []
        message.reserveCapacity(attributes.count * 8)
        for attribute in attributes {
            let isWhole = attribute.type.isHashedWithValue
            guard isWhole || attribute.type.isHashedWithoutValue else { continue }
            message += attribute.handle.wire.littleEndianOctets
            message += attribute.type.attributeForm.octets
            guard isWhole else { continue }
            switch attribute.content {
            case .constant(let value), .stored(let value): message += value
            case .provided, .configuration, .clientFeatures, .databaseHash: break
            }
        }
        return CMAC.code(of: message, key: .zero)
    }
}

extension BluetoothUUID {
    /// True for types of attributes that are hashed with their values.
    var isHashedWithValue: Bool { isDeclaration || self == GATT.extendedProperties }

    /// True for types of attributes that are hashed without their values.
    fileprivate var isHashedWithoutValue: Bool {
        switch self {
        case GATT.userDescription, GATT.clientConfiguration, GATT.serverConfiguration, GATT.presentationFormat,
            GATT.aggregateFormat:
            true
        default: false
        }
    }
}
