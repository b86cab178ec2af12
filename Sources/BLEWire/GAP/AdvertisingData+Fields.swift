/// How a device can be discovered, and whether it speaks Bluetooth Classic too.
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

/// The connection intervals that a peripheral would like; `nil` for an end that it leaves open.
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
    /// Data that belong to a service, in whatever form its specification gives them.
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

    /// The flags, or `nil` if the device sent none.
    package var flags: ADFlags? { firstData(of: .flags)?.first.map(ADFlags.init) }

    /// The services of every list there is, 16, 32 and 128 bits, complete or not, each once and in order.
    ///
    /// Core Specification Supplement 11, Part A, 1.1.
    package var serviceUUIDs: [BluetoothUUID] {
        uuids { if case .services(let octets) = $0 { octets } else { nil } }
    }

    /// The services that the device would like to find on a central, each once and in order.
    ///
    /// Core Specification Supplement 11, Part A, 1.10.
    package var solicitedServiceUUIDs: [BluetoothUUID] {
        uuids { if case .solicitation(let octets) = $0 { octets } else { nil } }
    }

    /// The name: the complete one if there is one, otherwise the beginning of it.
    ///
    /// Octets that are no UTF-8 become U+FFFD. A name ends at the first zero octet, with which some devices fill up
    /// the rest.
    ///
    /// Core Specification Supplement 11, Part A, 1.2.
    package var localName: String? {
        (firstData(of: .completeLocalName) ?? firstData(of: .shortenedLocalName)).map(Self.name)
    }

    /// The ``localName`` in octets that need not be decoded for that.
    package static func localName(in octets: Span<UInt8>) -> String? {
        nameRange(in: octets).map { name([UInt8](copying: octets.extracting($0))) }
    }

    /// Where the octets of ``localName`` lie.
    package static func nameRange(in octets: Span<UInt8>) -> Range<Int>? {
        firstRange(of: .completeLocalName, in: octets) ?? firstRange(of: .shortenedLocalName, in: octets)
    }

    /// Where the octets of ``manufacturerData`` lie.
    package static func manufacturerRange(in octets: Span<UInt8>) -> Range<Int>? {
        firstRange(of: .manufacturerData, in: octets, atLeast: 2)
    }

    /// Whether ``localName`` is only the beginning of the device's name.
    package var isLocalNameShortened: Bool {
        firstData(of: .completeLocalName) == nil && firstData(of: .shortenedLocalName) != nil
    }

    /// The power at which the advertisement was sent, in dBm, −127 to +127.
    ///
    /// Core Specification Supplement 11, Part A, 1.5.
    package var transmitPower: Int8? { firstData(of: .transmitPower)?.first.map(Int8.init(bitPattern:)) }

    /// What the maker of the device chose to send, the two octets of its company identifier first.
    ///
    /// The first structure counts if there are several; data too short for the identifier are none.
    ///
    /// Core Specification Supplement 11, Part A, 1.4.
    package var manufacturerData: [UInt8]? { data(of: .manufacturerData).first { $0.count >= 2 } }

    /// Who chose ``manufacturerData``.
    package var manufacturer: CompanyIdentifier? {
        manufacturerData.map { CompanyIdentifier(wire: UInt16($0[0]) | UInt16($0[1]) << 8) }
    }

    /// The data of services in order; one service may have several.
    package var serviceData: [ServiceData] { structures.compactMap(\.serviceData) }

    /// What the device looks like.
    ///
    /// Core Specification Supplement 11, Part A, 1.12.
    package var appearance: Appearance? { firstData(of: .appearance)?.integer16.map(Appearance.init(wire:)) }

    /// The connection intervals that the device would like.
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

    fileprivate static func name(_ data: [UInt8]) -> String {
        String(decoding: data.prefix { $0 != 0 }, as: UTF8.self)
    }
}

extension AdvertisingData.Structure {
    /// The UUIDs of `count` octets that these data are a list of; octets left over are ignored.
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

    /// The data as a person reads them.
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
    /// The integer that two octets are, least significant first; `nil` for any other number of them.
    fileprivate var integer16: UInt16? {
        count == 2 ? UInt16(self[0]) | UInt16(self[1]) << 8 : nil
    }
}
