import BLEHost
import BLEWire

/// A service with one characteristic to read, one to write and one that notifies.
enum PeerService {
    static let uuid = BluetoothUUID.short(0xBE00)
    static let readable = BluetoothUUID.short(0xBE01)
    static let writable = BluetoothUUID.short(0xBE02)
    static let notified = BluetoothUUID.short(0xBE03)
    static let notifiedID = LocalAttributeID(rawValue: 3)
    static let value = [UInt8](0..<20)

    static var definition: ServiceDefinition {
        ServiceDefinition(
            id: LocalAttributeID(rawValue: 0),
            uuid: uuid,
            characteristics: [
                .init(id: .init(rawValue: 1), uuid: readable, properties: .read, permissions: .readable),
                .init(
                    id: .init(rawValue: 2),
                    uuid: writable,
                    properties: [.write, .writeWithoutResponse],
                    permissions: .writeable
                ),
                .init(id: notifiedID, uuid: notified, properties: .notify, permissions: []),
            ]
        )
    }
}
