/// The discoverability of a device, and its support for BR/EDR.
///
/// Core Specification Supplement 11, Part A, 1.3.
package struct ADFlags: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let limitedDiscoverable = Self(rawValue: 1 << 0)
    package static let generalDiscoverable = Self(rawValue: 1 << 1)
    package static let classicNotSupported = Self(rawValue: 1 << 2)
    package static let simultaneousController = Self(rawValue: 1 << 3)
}

/// The connection intervals that a peripheral prefers; a bound is `nil` if the peripheral states none.
///
/// Core Specification Supplement 11, Part A, 1.9.
package struct PreferredConnectionIntervals: Equatable, Sendable {
    package let minimum: ConnectionInterval?
    package let maximum: ConnectionInterval?

    package init(minimum: ConnectionInterval?, maximum: ConnectionInterval?) {
        self.minimum = minimum
        self.maximum = maximum
    }
}

extension AdvertisingData {
    /// The data of a service, in the format that the service's specification defines.
    ///
    /// Core Specification Supplement 11, Part A, 1.11.
    package struct ServiceData: Equatable, Sendable {
        package let service: BluetoothUUID
        package let data: [UInt8]

        package init(service: BluetoothUUID, data: [UInt8]) {
            self.service = service
            self.data = data
        }
    }

    /// The flags; `nil` if the device sends none.
    package var flags: ADFlags? { firstData(of: .flags)?.first.map(ADFlags.init) }

    /// The services in the complete and incomplete lists of 16-, 32- and 128-bit UUIDs, in order, without duplicates.
    ///
    /// Core Specification Supplement 11, Part A, 1.1.
    package var serviceUUIDs: [BluetoothUUID] {
        uuids { if case .services(let octets) = $0 { octets } else { nil } }
    }

    /// The services that the device looks for on a central, in order, without duplicates.
    ///
    /// Core Specification Supplement 11, Part A, 1.10.
    package var solicitedServiceUUIDs: [BluetoothUUID] {
        uuids { if case .solicitation(let octets) = $0 { octets } else { nil } }
    }

    /// The first complete name, or the first shortened name if there is no complete one; `nil` if there is neither.
    ///
    /// Empty names are ignored. Octets that are not UTF-8 become U+FFFD. The name ends at the first zero octet,
    /// because some devices pad it with zeros.
    ///
    /// Core Specification Supplement 11, Part A, 1.2.
    package var localName: String? {
        (firstName(of: .completeLocalName) ?? firstName(of: .shortenedLocalName)).map { Self.name($0[...]) }
    }

    /// True if ``localName`` is a shortened name.
    package var isLocalNameShortened: Bool {
        firstName(of: .completeLocalName) == nil && firstName(of: .shortenedLocalName) != nil
    }

    private func firstName(of type: ADType) -> [UInt8]? {
        structures.first { $0.type == type && $0.data.first ?? 0 != 0 }?.data
    }

    /// The transmit power that the advertisement states, in dBm, −127 to +127; `nil` if it states none.
    ///
    /// Core Specification Supplement 11, Part A, 1.5.
    package var transmitPower: Int8? {
        data(of: .transmitPower).lazy.compactMap(\.first).first.map(Int8.init(bitPattern:))
    }

    /// The manufacturer specific data, starting with the two octets of the company identifier; `nil` if there is none.
    ///
    /// If several structures contain such data, the first one is used. Structures that are too short for the identifier
    /// are ignored.
    ///
    /// Core Specification Supplement 11, Part A, 1.4.
    package var manufacturerData: [UInt8]? { data(of: .manufacturerData).first { $0.count >= 2 } }

    /// The company identifier at the start of ``manufacturerData``; `nil` if there is no such data.
    package var manufacturer: CompanyIdentifier? {
        manufacturerData.map { CompanyIdentifier(wire: UInt16($0[0]) | UInt16($0[1]) << 8) }
    }

    /// The data of services, in order; a service may occur several times.
    package var serviceData: [ServiceData] { structures.compactMap(\.serviceData) }

    /// The appearance of the device; `nil` if the device states none.
    ///
    /// Core Specification Supplement 11, Part A, 1.12.
    package var appearance: Appearance? { firstData(of: .appearance)?.integer16.map(Appearance.init(wire:)) }

    /// The connection intervals that the device prefers; `nil` if the device states none.
    package var preferredConnectionIntervals: PreferredConnectionIntervals? {
        guard let data = firstData(of: .peripheralConnectionIntervalRange), data.count == 4 else { return nil }
        return PreferredConnectionIntervals(
            minimum: ConnectionInterval(wire: UInt16(data[0]) | UInt16(data[1]) << 8),
            maximum: ConnectionInterval(wire: UInt16(data[2]) | UInt16(data[3]) << 8)
        )
    }

    private func uuids(_ octets: (ADType.ListOfUUIDs) -> Int?) -> [BluetoothUUID] {
        var uuids: [BluetoothUUID] = [], seen: Set<BluetoothUUID> = []
        for structure in structures {
            guard let list = structure.type.list, let count = octets(list) else { continue }
            for uuid in structure.uuids(of: count) where seen.insert(uuid).inserted { uuids.append(uuid) }
        }
        return uuids
    }

    static func name(_ data: ArraySlice<UInt8>) -> String {
        String(decoding: data.prefix { $0 != 0 }, as: UTF8.self)
    }
}

extension AdvertisingData.Structure {
    /// Splits the data into UUIDs of `count` octets; octets left over at the end are ignored.
    fileprivate func uuids(of count: Int) -> [BluetoothUUID] {
        stride(from: 0, through: data.count - count, by: count).compactMap {
            BluetoothUUID(octets: data[$0..<($0 + count)])
        }
    }

    fileprivate var serviceData: AdvertisingData.ServiceData? {
        guard let count = type.serviceDataUUIDLength, let service = BluetoothUUID(octets: data.prefix(count)),
            data.count >= count
        else { return nil }
        return AdvertisingData.ServiceData(service: service, data: [UInt8](data.dropFirst(count)))
    }

    /// The data as human-readable text.
    var text: String {
        let single = AdvertisingData([self])
        switch type {
        case .completeLocalName, .shortenedLocalName: return single.localName ?? ""
        case .transmitPower: return single.transmitPower.map { "\($0) dBm" } ?? data.hexadecimal
        case .appearance: return single.appearance?.description ?? data.hexadecimal
        case .manufacturerData:
            guard let maker = single.manufacturer else { return data.hexadecimal }
            return "\(maker): " + data.dropFirst(2).hexadecimal
        default:
            if let item = serviceData { return "\(item.service): " + item.data.hexadecimal }
            let uuids = single.serviceUUIDs + single.solicitedServiceUUIDs
            return uuids.isEmpty ? data.hexadecimal : uuids.map(\.description).joined(separator: ", ")
        }
    }
}

extension [UInt8] {
    /// The two octets as an integer, least significant first; `nil` for any other count.
    fileprivate var integer16: UInt16? {
        count == 2 ? UInt16(self[0]) | UInt16(self[1]) << 8 : nil
    }
}
