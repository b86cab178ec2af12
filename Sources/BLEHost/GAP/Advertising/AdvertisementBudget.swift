import BLEWire

/// The size limits of an app's advertisement: 28 octets of services and name, and 10 more for a shortened name.
///
/// Core Bluetooth counts the contents of fields without their two-octet headers. Services come first, in their form and
/// order; the complete name is included if the rest of the 28 octets suffices.
///
/// Apple's `CBPeripheralManager.startAdvertising(_:)`.
struct AdvertisementBudget {
    /// The maximum octets of services and a complete name together.
    static let octets = 28
    /// The additional octets for a shortened name.
    static let nameLimit = 10

    private(set) var services: [BluetoothUUID] = []
    /// The services that do not fit.
    private(set) var excess: [BluetoothUUID] = []
    /// The name as a field, complete or shortened; `nil` if there is none.
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
