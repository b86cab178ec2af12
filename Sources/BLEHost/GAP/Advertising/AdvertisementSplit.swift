import BLEWire

/// A division of an app's fields between the advertisement and the scan response.
struct AdvertisementSplit {
    /// The services in one of the two packets, and the room that is left for more.
    private struct PacketContents {
        var services: [BluetoothUUID] = []
        var room: Int

        /// Adds a service if it fits.
        ///
        /// The first service with a UUID of a certain length also needs the header of a list.
        mutating func add(_ service: BluetoothUUID) -> Bool {
            let octets = service.octets.count
            let cost = octets + (services.contains { $0.octets.count == octets } ? 0 : 2)
            guard cost <= room else { return false }
            services.append(service)
            room -= cost
            return true
        }
    }

    private(set) var advertisement = AdvertisingDataBuilder(capacity: AdvertisingData.maximumLegacyLength)
    private(set) var scanResponse = AdvertisingDataBuilder(capacity: AdvertisingData.maximumLegacyLength)

    /// The total length of the services in the advertisement, in octets.
    private var advertised = 0

    /// Returns the division with the most octets of services in the advertisement; `nil` if no division holds all
    /// services.
    ///
    /// Among equal divisions, one with a complete name in the advertisement is preferred, and one with a shortened name
    /// or an overflow area in the scan response.
    static func best(
        services: [BluetoothUUID],
        overflow: [BluetoothUUID],
        name: AdvertisingData.Structure?,
        area: AdvertisingData.Structure?
    ) -> Self? {
        let largestFirst = services.filter { $0.octets.count > 4 } + services.filter { $0.octets.count <= 4 }
        var best: Self?
        for services in [services, largestFirst] {
            for areaIsFirst in [false, true] {
                for nameIsFirst in name?.type == .shortenedLocalName ? [false, true] : [true, false] {
                    var front: [AdvertisingData.Structure] = [], rear: [AdvertisingData.Structure] = []
                    if let name { if nameIsFirst { front.append(name) } else { rear.append(name) } }
                    if let area { if areaIsFirst { front.append(area) } else { rear.append(area) } }
                    guard let split = Self(services, overflow, beside: front, after: rear) else { continue }
                    if split.advertised > best?.advertised ?? -1 { best = split }
                }
            }
        }
        return best
    }

    /// Puts `front` into the advertisement, `rear` into the scan response, and the services into what is left of both.
    ///
    /// Returns `nil` if they do not fit.
    private init?(
        _ services: [BluetoothUUID],
        _ overflow: [BluetoothUUID],
        beside front: [AdvertisingData.Structure],
        after rear: [AdvertisingData.Structure]
    ) {
        let hasFlags = advertisement.append(flags: [.generalDiscoverable, .classicNotSupported])
        precondition(hasFlags, "flags must come first")
        var here = PacketContents(room: advertisement.room - front.reduce(0) { $0 + $1.encodedLength })
        var there = PacketContents(room: scanResponse.room - rear.reduce(0) { $0 + $1.encodedLength })
        guard here.room >= 0, there.room >= 0 else { return nil }
        for service in services where !here.add(service) { guard there.add(service) else { return nil } }
        advertised = here.services.reduce(0) { $0 + $1.octets.count }
        Self.append(here.services, then: front, to: &advertisement, others: there.services + overflow)
        Self.append(there.services, then: rear, to: &scanResponse, others: here.services + overflow)
    }

    private static func append(
        _ services: [BluetoothUUID],
        then fields: [AdvertisingData.Structure],
        to builder: inout AdvertisingDataBuilder,
        others: [BluetoothUUID]
    ) {
        for octets in [2, 4, 16] {
            let list = services.filter { $0.octets.count == octets }
            guard !list.isEmpty else { continue }
            let isComplete = !others.contains { $0.octets.count == octets }
            let hasRoom = builder.append(.init(type(octets, isComplete: isComplete), list.flatMap(\.octets)))
            precondition(hasRoom, "a share must fit")
        }
        for field in fields {
            let hasRoom = builder.append(field)
            precondition(hasRoom, "space for these fields must be reserved")
        }
    }

    private static func type(_ octets: Int, isComplete: Bool) -> ADType {
        switch octets {
        case 2: isComplete ? .completeServiceUUIDs16 : .incompleteServiceUUIDs16
        case 4: isComplete ? .completeServiceUUIDs32 : .incompleteServiceUUIDs32
        default: isComplete ? .completeServiceUUIDs128 : .incompleteServiceUUIDs128
        }
    }
}
