import BLEHost
import BLEWire
import DBus

/// The properties of `Device1` that an advertisement determines.
enum AdvertisedProperties {
    /// Returns the property `RSSI`, which can differ between advertisements with the same data; empty if the strength
    /// is unknown.
    static func strength(of report: AdvertisementReport) -> [ObjectTree.Property] {
        report.rssi.dBm.map { [("RSSI", .int16(Int16($0)))] } ?? []
    }

    static func list(of report: AdvertisementReport) -> [ObjectTree.Property] {
        let merged = MergedAdvertisement(report.octets), structures = merged.structures
        var list = strength(of: report)
        if let power = merged.transmitPower { list.append(("TxPower", .int16(Int16(power)))) }
        if let data = merged.manufacturerData, data.count >= 2 {
            let company = UInt16(data[0]) | UInt16(data[1]) << 8
            let entry = BusValue.entry(.uint16(company), .variant(.octets(Array(data.dropFirst(2)))))
            list.append(("ManufacturerData", .array(of: .entry(.uint16, .variant), [entry])))
        }
        let services = merged.serviceData.map { item in
            BusValue.entry(.string(item.service.inFull), .variant(.octets(item.data)))
        }
        if !services.isEmpty { list.append(("ServiceData", .array(of: .entry(.string, .variant), services))) }
        if let flags = structures.structures.first(where: { $0.type == .flags }) {
            list.append(("AdvertisingFlags", .octets(flags.data)))
        }
        if let appearance = structures.appearance {
            list.append(("Appearance", .uint16(appearance.wire)))
            if let icon = icon(of: appearance) { list.append(("Icon", .string(icon))) }
        }
        if let data = data(structures) { list.append(("AdvertisingData", data)) }
        return list
    }

    /// Returns the name that BlueZ gives the icon of a device with this appearance; `nil` if BlueZ has none.
    private static func icon(of appearance: Appearance) -> String? {
        switch (appearance.category, appearance.subcategory) {
        case (0x0F, 1): "input-keyboard"
        case (0x0F, 2): "input-mouse"
        case (0x0F, 3), (0x0F, 4): "input-gaming"
        case (0x0F, 5): "input-tablet"
        case (0x0F, 8): "scanner"
        case (let category, _): icons.first { $0.category == category }?.icon
        }
    }

    /// The icons by category.
    private static let icons: [(category: UInt16, icon: String)] = [
        (0x00, "unknown"), (0x01, "phone"), (0x02, "computer"), (0x03, "watch"), (0x04, "clock"),
        (0x05, "video-display"), (0x06, "remote-control"), (0x07, "eye-glasses"), (0x08, "tag"), (0x09, "key-ring"),
        (0x0A, "multimedia-player"), (0x0B, "scanner"), (0x0C, "thermometer"), (0x0D, "heart-rate-sensor"),
        (0x0E, "blood-pressure"), (0x10, "glucose-meter"), (0x11, "running-walking-sensor"), (0x12, "cycling"),
        (0x31, "pulse-oximeter"), (0x32, "weight-scale"), (0x33, "personal-mobility-device"),
        (0x34, "continuous-glucose-monitor"), (0x35, "insulin-pump"), (0x36, "medication-delivery"),
    ]

    /// Returns a dictionary from the AD type of each structure to its data; `nil` if there are no structures.
    ///
    /// Of several structures of the same type, only the last is included.
    private static func data(_ structures: AdvertisingData) -> BusValue? {
        var entries = OrderedMap<UInt8, [UInt8]>()
        for structure in structures.structures { entries[structure.type.wire] = structure.data }
        guard !entries.isEmpty else { return nil }
        return .array(
            of: .entry(.byte, .variant),
            entries.keys.map { .entry(.byte($0), .variant(.octets(entries[$0] ?? []))) }
        )
    }
}
