import CoreBluetooth

/// The keys by which lines of JSON name a device.
struct DeviceKeys {
    let identifier: UUID
    /// `nil` if it is unknown, such as that of a central.
    let name: String?

    init(_ identifier: UUID, name: String? = nil) {
        self.identifier = identifier
        self.name = name
    }

    var fields: [String: Any] {
        var fields: [String: Any] = ["identifier": identifier.uuidString]
        fields["name"] = name
        return fields
    }
}

extension CBCharacteristic {
    /// The keys by which lines of JSON name a characteristic.
    var keys: [String: Any] {
        var fields: [String: Any] = ["characteristic": uuid.uuidString]
        fields["service"] = service?.uuid.uuidString
        fields["instance"] = number
        return fields
    }

    /// The keys of a value of this characteristic: its octets, and what they say, as far as that is known.
    func keys(of value: Data) -> [String: Any] {
        var fields: [String: Any] = ["value": value.hexadecimal]
        fields["text"] = value.text
        guard let format = ValueFormat(of: self) else { return fields }
        fields["reading"] = format.reading(of: value)
        guard let number = format.number(of: value) else { return fields }
        fields["number"] = number
        fields["unit"] = format.unit.isEmpty ? nil : format.unit.trimmingCharacters(in: .whitespaces)
        return fields
    }
}
