/// Names from the Assigned Numbers, for tools that print them.
///
/// Only common names are included. The stack itself works with the numbers.
///
/// Assigned Numbers.
package enum AssignedNames {
    /// The names of the attribute types that declare services and characteristics.
    ///
    /// Assigned Numbers, 3.5.
    package static let declarations: [UInt16: String] = [
        0x2800: "Primary Service",
        0x2801: "Secondary Service",
        0x2802: "Include",
        0x2803: "Characteristic",
    ]

    /// Returns the name of a service; `nil` if it is not in the table.
    package static func service(_ uuid: BluetoothUUID) -> String? { name(of: uuid, in: services) }

    /// Returns the name of a characteristic; `nil` if it is not in the table.
    package static func characteristic(_ uuid: BluetoothUUID) -> String? { name(of: uuid, in: characteristics) }

    /// Returns the name of a descriptor; `nil` if it is not in the table.
    package static func descriptor(_ uuid: BluetoothUUID) -> String? { name(of: uuid, in: descriptors) }

    /// Returns the name of an attribute type of any kind; `nil` if it is in none of the tables.
    package static func attribute(_ uuid: BluetoothUUID) -> String? {
        service(uuid) ?? characteristic(uuid) ?? descriptor(uuid) ?? name(of: uuid, in: declarations)
    }

    private static func name(of uuid: BluetoothUUID, in table: [UInt16: String]) -> String? {
        guard case .short(let value) = uuid.attributeForm else { return nil }
        return table[value]
    }
}
