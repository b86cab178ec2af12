/// Names from the Assigned Numbers, for tools that print them.
///
/// Only common ones are included. The stack itself works with the numbers.
///
/// Assigned Numbers.
package enum AssignedNames {
    /// The declarations that group the attributes of a server.
    ///
    /// Assigned Numbers, 3.5.
    package static let declarations: [UInt16: String] = [
        0x2800: "Primary Service",
        0x2801: "Secondary Service",
        0x2802: "Include",
        0x2803: "Characteristic",
    ]

    /// The name of a common service.
    package static func service(_ uuid: BluetoothUUID) -> String? { name(of: uuid, in: services) }

    /// The name of a common characteristic.
    package static func characteristic(_ uuid: BluetoothUUID) -> String? { name(of: uuid, in: characteristics) }

    /// The name of a descriptor.
    package static func descriptor(_ uuid: BluetoothUUID) -> String? { name(of: uuid, in: descriptors) }

    /// The name of any common attribute type.
    package static func attribute(_ uuid: BluetoothUUID) -> String? {
        service(uuid) ?? characteristic(uuid) ?? descriptor(uuid) ?? name(of: uuid, in: declarations)
    }

    private static func name(of uuid: BluetoothUUID, in table: [UInt16: String]) -> String? {
        guard case .short(let value) = uuid.attributeForm else { return nil }
        return table[value]
    }
}
