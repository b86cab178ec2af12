import BLEWire

/// What an app may advertise for everybody: 28 octets of services and name, and 10 more for the beginning of a name.
///
/// Core Bluetooth counts what fields hold, without the two octets that head each. Services, in the form and order
/// given, come first; the name is there whole if the rest of the 28 octets has room for it.
///
/// Apple's `CBPeripheralManager.startAdvertising(_:)`.
struct AdvertisementBudget {
    /// How many octets services and a whole name may have together.
    static let octets = 28
    /// How many octets of a name there are beyond that.
    static let nameLimit = 10

    private(set) var services: [BluetoothUUID] = []
    /// The services for which there is no room.
    private(set) var excess: [BluetoothUUID] = []
    /// The name as a field: whole, or its beginning; `nil` if there is none.
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
