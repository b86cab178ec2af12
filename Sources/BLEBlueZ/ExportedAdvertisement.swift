import BLEHost
import BLEWire
import DBus

/// The advertisement that a program describes with the properties of an `LEAdvertisement1` object.
///
/// The properties are checked as BlueZ checks them on an adapter without BR/EDR. A property of the wrong type, a value
/// out of range or a contradiction makes the whole advertisement invalid. Unknown properties are ignored.
struct ExportedAdvertisement: Equatable, Sendable {
    /// The adapter's properties that affect an advertisement.
    struct Adapter {
        var alias: String
        var isDiscoverable: Bool
    }

    private struct Invalid: Error {}

    private(set) var request: AdvertisingRequest
    /// The duration for which the advertisement stays on the air; `nil` for no limit.
    private(set) var timeout: Duration?
    /// The duration for which the advertisement is discoverable; `nil` for no limit.
    private(set) var discoverableTime: Duration?
    /// True if the object has the property `Instance`, which the bridge sets to the number of the advertisement.
    let hasInstance: Bool

    /// The advertising request for the time after ``discoverableTime``.
    ///
    /// It has no flags, so the advertisement is no longer discoverable.
    var hiddenRequest: AdvertisingRequest {
        var hidden = request
        hidden.broadcast?.flags = nil
        return hidden
    }

    /// Reads the properties; returns `nil` if they are invalid.
    init?(_ properties: BusValue, on adapter: Adapter) {
        guard let type = properties[key: "Type"]?.text, ["peripheral", "broadcast"].contains(type) else { return nil }
        var broadcast = BroadcastRequest()
        broadcast.isConnectable = type == "peripheral"
        request = AdvertisingRequest(broadcast: broadcast)
        hasInstance = properties[key: "Instance"] != nil
        do {
            try readContents(properties, on: adapter)
            try readDiscoverability(properties, on: adapter)
            try readParameters(properties)
        } catch { return nil }
        // Contents that do not fit into a legacy advertisement are sent in an extended one.
        if request.error != nil, !shortenName() { request.broadcast?.isExtended = true }
    }

    /// Shortens the name until the advertisement fits into a legacy one, or drops the name.
    ///
    /// Returns false if the advertisement has no name, is extended, or does not fit even without the name.
    private mutating func shortenName() -> Bool {
        guard let name = request.localName, request.broadcast?.isExtended == false else { return false }
        var short = request
        short.localName = nil
        guard short.error == nil else { return false }
        let beginning = String(name.unicodeScalars.prefix(AdvertisingData.maximumLegacyLength))
        for capacity in (3...AdvertisingData.maximumLegacyLength).reversed() {
            var builder = AdvertisingDataBuilder(capacity: capacity)
            _ = builder.append(localName: beginning)
            guard let data = builder.data.structures.first?.data else { break }
            var candidate = short
            candidate.broadcast?.structures.append(.init(.shortenedLocalName, data))
            guard candidate.error != nil else {
                request = candidate
                return true
            }
        }
        request = short
        return true
    }

    private mutating func readContents(_ properties: BusValue, on adapter: Adapter) throws(Invalid) {
        request.services = try Self.uuids(properties[key: "ServiceUUIDs"])
        for (key, value) in try Self.entries(properties[key: "ManufacturerData"]) {
            guard case .uint16(let company) = key else { throw Invalid() }
            let data = company.littleEndianOctets + (try Self.octets(value, atMost: 252))
            if request.broadcast?.manufacturerData == nil {
                request.broadcast?.manufacturerData = data
            } else {
                request.broadcast?.structures.append(.init(.manufacturerData, data))
            }
        }
        for (key, value) in try Self.entries(properties[key: "ServiceData"]) {
            guard let uuid = key.text.flatMap({ BluetoothUUID(from: $0) }) else { throw Invalid() }
            let data = try Self.octets(value, atMost: 238)
            request.broadcast?.serviceData.append(.init(service: uuid.attributeForm, data: data))
        }
        let solicited = try Self.uuids(properties[key: "SolicitUUIDs"])
        try addSolicitation(.solicitedServiceUUIDs16, solicited.filter { $0.octets.count == 2 })
        try addSolicitation(.solicitedServiceUUIDs32, solicited.filter { $0.octets.count == 4 })
        try addSolicitation(.solicitedServiceUUIDs128, solicited.filter { $0.octets.count == 16 })
        try readIncludes(properties, on: adapter)
        for (key, value) in try Self.entries(properties[key: "Data"]) {
            guard case .byte(let wire) = key, !Self.isReserved(wire) else { throw Invalid() }
            request.broadcast?.structures.append(.init(ADType(wire: wire), try Self.octets(value, atMost: 249)))
        }
    }

    private mutating func addSolicitation(_ type: ADType, _ uuids: [BluetoothUUID]) throws(Invalid) {
        let data = uuids.flatMap(\.octets)
        guard !data.isEmpty else { return }
        guard data.count <= AdvertisingData.Structure.maximumDataLength else { throw Invalid() }
        request.broadcast?.structures.append(.init(type, data))
    }

    /// Reads the name, the appearance, the transmit power, and the list of values that the bridge must include.
    private mutating func readIncludes(_ properties: BusValue, on adapter: Adapter) throws(Invalid) {
        let includes = try Self.texts(properties[key: "Includes"])
        switch properties[key: "LocalName"] {
        case .string(let name)?:
            guard !includes.contains("local-name") else { throw Invalid() }
            request.localName = name.isEmpty ? nil : name
        case nil: request.localName = includes.contains("local-name") ? adapter.alias : nil
        default: throw Invalid()
        }
        var appearance = includes.contains("appearance") ? Appearance.unknown : nil
        switch properties[key: "Appearance"] {
        case .uint16(let wire)?:
            guard appearance == nil else { throw Invalid() }
            appearance = Appearance(wire: wire)
        case nil: break
        default: throw Invalid()
        }
        if let appearance {
            request.broadcast?.structures.append(.init(.appearance, appearance.wire.littleEndianOctets))
        }
        switch properties[key: "TxPower"] {
        case .int16(let power)?:
            guard -127...20 ~= power else { throw Invalid() }
            request.broadcast?.transmitPower = Int8(power)
        case nil: break
        default: throw Invalid()
        }
        // The controller is asked for the power that the advertisement states.
        guard includes.contains("tx-power") else { return }
        let power = request.broadcast?.transmitPower ?? 0
        request.broadcast?.transmitPower = power
        request.broadcast?.statedPower = power
    }

    private mutating func readDiscoverability(_ properties: BusValue, on adapter: Adapter) throws(Invalid) {
        let isConnectable = request.broadcast?.isConnectable == true, flags: ADFlags?
        switch properties[key: "Discoverable"] {
        case .boolean(true)?:
            guard isConnectable else { throw Invalid() }
            flags = [.generalDiscoverable, .classicNotSupported]
        case .boolean(false)?: flags = isConnectable ? .classicNotSupported : nil
        case nil:
            let isDiscoverable = isConnectable && adapter.isDiscoverable
            flags = isDiscoverable ? [.generalDiscoverable, .classicNotSupported] : nil
        default: throw Invalid()
        }
        request.broadcast?.flags = flags
        timeout = try Self.seconds(properties[key: "Timeout"])
        let limit = try Self.seconds(properties[key: "DiscoverableTimeout"])
        guard properties[key: "Discoverable"] == .boolean(true), let limit else { return }
        if let timeout, timeout < limit { throw Invalid() }
        discoverableTime = limit
        request.broadcast?.flags = [.limitedDiscoverable, .classicNotSupported]
    }

    private mutating func readParameters(_ properties: BusValue) throws(Invalid) {
        _ = try Self.seconds(properties[key: "Duration"])
        switch properties[key: "SecondaryChannel"]?.text {
        case "1M"?: request.broadcast?.isExtended = true
        case "2M"?:
            request.broadcast?.isExtended = true
            request.broadcast?.secondaryPHY = .le2M
        case "Coded"?:
            request.broadcast?.isExtended = true
            request.broadcast?.primaryPHY = .leCoded
            request.broadcast?.secondaryPHY = .leCoded
        case nil where properties[key: "SecondaryChannel"] == nil: break
        default: throw Invalid()
        }
        let least = try Self.interval(properties[key: "MinInterval"])
        let most = try Self.interval(properties[key: "MaxInterval"])
        guard let least else { return }
        guard let most, least <= most else { throw Invalid() }
        request.broadcast?.interval = .milliseconds(least)
    }

    /// Returns true for AD types that are invalid in the property `Data`, because another property provides them, or
    /// because they do not belong in advertising data.
    private static func isReserved(_ type: UInt8) -> Bool {
        switch type {
        case 0x01...0x0A, 0x0D...0x12, 0x14...0x23, 0x27...0x2B, 0x2E, 0x3D, 0xFF: true
        default: false
        }
    }

    private static func texts(_ list: BusValue?) throws(Invalid) -> [String] {
        guard let list else { return [] }
        guard let elements = list.elements else { throw Invalid() }
        return elements.compactMap(\.text)
    }

    private static func uuids(_ list: BusValue?) throws(Invalid) -> [BluetoothUUID] {
        var uuids: [BluetoothUUID] = []
        for text in try texts(list) {
            guard let uuid = BluetoothUUID(from: text) else { throw Invalid() }
            uuids.append(uuid.attributeForm)
        }
        return uuids
    }

    private static func entries(_ dictionary: BusValue?) throws(Invalid) -> [(key: BusValue, value: BusValue)] {
        guard let dictionary else { return [] }
        guard let entries = dictionary.entries else { throw Invalid() }
        return entries
    }

    private static func octets(_ value: BusValue, atMost limit: Int) throws(Invalid) -> [UInt8] {
        guard let octets = value.bytes, octets.count <= limit else { throw Invalid() }
        return octets
    }

    /// Returns a number of seconds; `nil` if there is none, or if it is 0.
    private static func seconds(_ value: BusValue?) throws(Invalid) -> Duration? {
        switch value {
        case .uint16(let seconds)?: seconds == 0 ? nil : .seconds(seconds)
        case nil: nil
        default: throw Invalid()
        }
    }

    /// Returns an advertising interval in milliseconds; `nil` if there is none.
    private static func interval(_ value: BusValue?) throws(Invalid) -> Int? {
        switch value {
        case .uint32(let interval)? where 20...10_485_759 ~= interval: Int(interval)
        case nil: nil
        default: throw Invalid()
        }
    }
}
