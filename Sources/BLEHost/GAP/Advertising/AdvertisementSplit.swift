package import BLEWire

/// A division of an app's fields between the advertisement and the scan response.
struct AdvertisementSplit {
    /// The services in the advertisement or in the scan response, and the room that is left for more.
    private struct PacketContents {
        var services: [BluetoothUUID] = []
        var room: Int

        /// Adds a service if it fits; otherwise returns `false`.
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
    /// If several divisions are equal, a complete name goes into the advertisement if possible, and a shortened name or
    /// an overflow area into the scan response.
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

    /// Creates a division with `front` in the advertisement, `rear` in the scan response, and `services` in the room
    /// that is left in both.
    ///
    /// Returns `nil` if the services do not fit. The services in `overflow` are in neither packet. A list of UUIDs is
    /// marked as incomplete if `overflow` or the other packet contains UUIDs of the same size.
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
            precondition(hasRoom, "each share must fit into its packet")
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

/// The services of background apps, and those that did not fit into an advertisement, as a set of 128 bits in
/// manufacturer data.
///
/// The area only shows whether an advertisement may contain a given service, because several services share each bit.
/// The field is manufacturer data with Apple's company identifier, type 0x01, and 16 octets; the first octet holds bits
/// 0 to 7, least significant bit first. Apple has not published which bit stands for which service. This stack uses the
/// exclusive or of all sixteen octets of the UUID, without the highest bit.
package struct OverflowArea: Equatable, Sendable {
    private static let header: [UInt8] = [0x4C, 0x00, 0x01]

    private var mask: UInt128

    /// Creates the area for `services`.
    package init(_ services: [BluetoothUUID]) { mask = services.reduce(0) { $0 | Self.bit(of: $1) } }

    /// Decodes the overflow area in advertising data; returns `nil` if there is none.
    package init?(in data: AdvertisingData) {
        let octets = data.data(of: .manufacturerData).first {
            $0.count == Self.header.count + 16 && $0.starts(with: Self.header)
        }
        guard let octets else { return nil }
        mask = octets.dropFirst(Self.header.count).reversed().reduce(0) { $0 << 8 | UInt128($1) }
    }

    /// Returns whether the area may contain `service`.
    package func contains(_ service: BluetoothUUID) -> Bool { mask & Self.bit(of: service) != 0 }

    /// The contents of the manufacturer data field.
    package var manufacturerData: [UInt8] { Self.header + mask.littleEndianOctets }

    private static func bit(of service: BluetoothUUID) -> UInt128 {
        let index = service.expanded.littleEndianOctets.reduce(0) { $0 ^ $1 } & 0x7F
        return 1 << UInt128(index)
    }
}
