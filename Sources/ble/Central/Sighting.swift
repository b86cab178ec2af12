import CoreBluetooth

/// A peripheral that was seen advertising.
struct Sighting {
    let peripheral: CBPeripheral
    let advertisement: [String: Any]
    /// dBm; 127 if it is not known.
    let rssi: Int

    /// What it advertises as its name, which is what it is called now; else what is known from earlier.
    var name: String? { advertisement[CBAdvertisementDataLocalNameKey] as? String ?? peripheral.name }
    var isConnectable: Bool { (advertisement[CBAdvertisementDataIsConnectable] as? NSNumber)?.boolValue ?? false }
    var services: [CBUUID] { advertisement[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID] ?? [] }
    var manufacturerData: Data? { advertisement[CBAdvertisementDataManufacturerDataKey] as? Data }
    var serviceData: [CBUUID: Data] { advertisement[CBAdvertisementDataServiceDataKey] as? [CBUUID: Data] ?? [:] }

    /// How strong it says that it sends, in dBm.
    var statedPower: Int? { (advertisement[CBAdvertisementDataTxPowerLevelKey] as? NSNumber)?.intValue }

    /// The fact for people and scripts; `age` says how long ago it was, where that matters.
    func fact(color: Bool, age: Duration? = nil) -> Fact {
        var fields: [String: Any] = [
            "identifier": peripheral.identifier.uuidString,
            "rssi": rssi,
            "connectable": isConnectable,
            "services": services.map(\.uuidString),
        ]
        fields["name"] = name
        fields["age"] = age.map { ($0 / .seconds(1) * 10).rounded() / 10 }
        fields["manufacturer_data"] = manufacturerData?.hexadecimal
        fields["tx_power"] = statedPower
        if !serviceData.isEmpty {
            fields["service_data"] = Dictionary(
                uniqueKeysWithValues: serviceData.map { ($0.key.uuidString, $0.value.hexadecimal) }
            )
        }
        return Fact("discovered", fields, text: line(color: color))
    }

    private func line(color: Bool) -> String {
        let strength = rssi == 127 ? "   ?" : String(repeating: " ", count: max(0, 4 - "\(rssi)".count)) + "\(rssi)"
        let services = services.map { "\($0)" }.joined(separator: ", ")
        let maker = manufacturerData.map { " maker \($0.hexadecimal)" } ?? ""
        let title = (name?.printable ?? "(no name)").padded(to: 24).bold(color)
        return "\(strength) dBm  \(title)  \(peripheral.identifier.uuidString.faint(color))  \(services)\(maker)"
    }
}
