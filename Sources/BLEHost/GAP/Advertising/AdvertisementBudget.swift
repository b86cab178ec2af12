import BLEWire

/// The size limits of an app's advertisement: 28 octets for services and a complete name, and 10 more octets for a
/// shortened name.
///
/// Core Bluetooth counts the contents of fields without their two-octet headers. Services are included first, in the
/// app's order. The complete name is included if it fits into what is left of the 28 octets; otherwise it is shortened.
///
/// Source: Apple's documentation of `CBPeripheralManager.startAdvertising(_:)`.
struct AdvertisementBudget {
    /// The maximum length of the services and the complete name together, in octets.
    static let octets = 28
    /// The maximum length of a shortened name, in octets.
    ///
    /// It does not count towards ``octets``.
    static let nameLimit = 10

    private(set) var services: [BluetoothUUID] = []
    /// The services that do not fit into ``octets``.
    private(set) var excess: [BluetoothUUID] = []
    /// The field with the complete or shortened name; `nil` if there is none.
    let name: AdvertisingData.Structure?

    init(services wanted: [BluetoothUUID], localName: String?) {
        var room = Self.octets
        for service in wanted {
            if service.octets.count <= room {
                room -= service.octets.count
                services.append(service)
            } else {
                excess.append(service)
            }
        }
        name = localName.flatMap { Self.field($0, room: room) }
    }

    private static func field(_ name: String, room: Int) -> AdvertisingData.Structure? {
        var builder = AdvertisingDataBuilder(capacity: 2 + (name.utf8.count <= room ? octets : nameLimit))
        guard !name.isEmpty, builder.append(localName: name) != .omitted else { return nil }
        return builder.data.structures.first
    }
}
