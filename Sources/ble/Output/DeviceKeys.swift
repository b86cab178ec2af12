import CoreBluetooth

/// The JSON keys that identify a device in an event.
struct DeviceKeys {
    let identifier: UUID
    /// The device's name; `nil` if it is unknown.
    ///
    /// A central's name is always unknown.
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
    /// The JSON keys that identify this characteristic in an event.
    var keys: [String: Any] {
        var fields: [String: Any] = ["characteristic": uuid.uuidString]
        fields["service"] = service?.uuid.uuidString
        fields["instance"] = number
        return fields
    }

    /// Returns the JSON keys for a value of this characteristic: its octets and, if the format is known, its meaning.
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
