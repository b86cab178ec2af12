import BLERuntime
import CoreBluetooth

extension ScannedPeripheral {
    /// Returns the output for the peripheral, in colour if `color`.
    ///
    /// `age` is the time since the peripheral's last advertisement; `nil` to leave the age out.
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
        if let packets { fields.merge(packets.keys) { own, _ in own } }
        return Fact("discovered", fields, text: line(color: color))
    }

    private func line(color: Bool) -> String {
        let strength = rssi == 127 ? "   ?" : String(repeating: " ", count: max(0, 4 - "\(rssi)".count)) + "\(rssi)"
        let services = services.map { "\($0)" }.joined(separator: ", ")
        let maker = manufacturerData.map { " manufacturer \($0.hexadecimal)" } ?? ""
        let title = (name?.printable ?? "(no name)").padded(to: 24).bold(color)
        return "\(strength) dBm  \(title)  \(peripheral.identifier.uuidString.faint(color))  \(services)\(maker)"
    }
}
