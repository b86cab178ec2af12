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
        if let appearance = structures.appearance { list.append(("Appearance", .uint16(appearance.wire))) }
        if let data = data(structures) { list.append(("AdvertisingData", data)) }
        return list
    }

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
