package import BLEHost
package import BLEWire
package import DBus

/// The argument of `SetDiscoveryFilter`: the devices that a program wants to discover.
package struct DiscoveryFilter: Equatable, Sendable {
    /// The keys that the filter supports, for `GetDiscoveryFilters`.
    package static let keys = ["UUIDs", "RSSI", "Pathloss", "Transport", "DuplicateData", "Discoverable", "Pattern"]
    /// The maximum number of services in a filter.
    package static let serviceLimit = 64

    /// The services to look for: a device passes if it advertises at least one of them, or if the list is empty.
    package var services: [BluetoothUUID] = []
    package var minimumRSSI: Int?
    /// The maximum difference between transmit power and RSSI, in dB; `nil` for no limit.
    package var maximumPathLoss: Int?
    /// The text with which a device's name or address must begin; `nil` to admit all names and addresses.
    package var pattern: String?
    /// True to signal the data in every advertisement, even if the data is the same as before.
    package var duplicates = false

    package init() {}

    /// Creates a filter from the argument of a call to `SetDiscoveryFilter`.
    ///
    /// - Throws: `InvalidArguments` for unknown keys, wrong types and values out of range, `NotSupported` for BR/EDR.
    package init(_ argument: BusValue?) throws(BlueZError) {
        guard let entries = argument?.entries else { throw .invalidArguments }
        for (key, value) in entries { try set(key.text ?? "", value) }
        guard minimumRSSI == nil || maximumPathLoss == nil else { throw .invalidArguments }
    }

    private mutating func set(_ key: String, _ value: BusValue) throws(BlueZError) {
        switch key {
        case "UUIDs":
            guard let texts = value.elements, texts.count <= Self.serviceLimit else { throw .invalidArguments }
            services = []
            for text in texts {
                guard let uuid = text.text.flatMap({ BluetoothUUID(from: $0) }) else { throw .invalidArguments }
                services.append(uuid)
            }
        case "RSSI":
            guard let rssi = value.integer, -127...20 ~= rssi else { throw .invalidArguments }
            minimumRSSI = rssi
        case "Pathloss":
            guard let loss = value.integer, 0...137 ~= loss else { throw .invalidArguments }
            maximumPathLoss = loss
        case "Transport":
            switch value.text {
            case "le", "auto": break
            case "bredr": throw .notSupported
            default: throw .invalidArguments
            }
        case "DuplicateData":
            guard let flag = value.flag else { throw .invalidArguments }
            duplicates = flag
        case "Discoverable": guard value.flag != nil else { throw .invalidArguments }
        case "Pattern":
            guard let text = value.text else { throw .invalidArguments }
            pattern = text.isEmpty ? nil : text
        default: throw .invalidArguments
        }
    }

    /// Returns whether an advertisement passes the filter.
    package func admits(_ report: AdvertisementReport) -> Bool {
        if let minimumRSSI, (report.rssi.dBm.map(Int.init) ?? -128) < minimumRSSI { return false }
        if let pattern, !(report.name ?? "").hasPrefix(pattern), !report.address.description.hasPrefix(pattern) {
            return false
        }
        guard !services.isEmpty || maximumPathLoss != nil else { return true }
        let merged = MergedAdvertisement(report.octets)
        if let maximumPathLoss {
            guard let power = merged.transmitPower, let rssi = report.rssi.dBm,
                Int(power) - Int(rssi) <= maximumPathLoss
            else { return false }
        }
        return services.isEmpty || merged.serviceUUIDs.contains { services.contains($0) }
    }

    /// True if every change of a device's signal strength matters to the filter.
    package var isAboutStrength: Bool { minimumRSSI != nil || maximumPathLoss != nil }

    /// A scan that finds all devices that can pass the filter.
    package var scan: ScanRequest {
        let weakest = minimumRSSI.map { Int8(clamping: $0) }
        return ScanRequest(services: services, allowsDuplicates: true, minimumRSSI: weakest)
    }
}
