/// The names that the Bluetooth SIG gives to its numbers: what tools print beside them.
///
/// Only common ones are here. What a name means is not for the stack to know: it works with the numbers.
///
/// Assigned Numbers.
package enum AssignedNames {
    /// The declarations that a server's attributes are grouped by.
    ///
    /// Assigned Numbers, 3.5.
    package static let declarations: [UInt16: String] = [
        0x2800: "Primary Service",
        0x2801: "Secondary Service",
        0x2802: "Include",
        0x2803: "Characteristic",
    ]

    /// The name of a service, if it is a common one.
    package static func service(_ uuid: BluetoothUUID) -> String? { name(of: uuid, in: services) }

    /// The name of a characteristic, if it is a common one.
    package static func characteristic(_ uuid: BluetoothUUID) -> String? { name(of: uuid, in: characteristics) }

    /// The name of a descriptor, if there is one.
    package static func descriptor(_ uuid: BluetoothUUID) -> String? { name(of: uuid, in: descriptors) }

    /// The name of any type of attribute, if it is a common one.
    package static func attribute(_ uuid: BluetoothUUID) -> String? {
        service(uuid) ?? characteristic(uuid) ?? descriptor(uuid) ?? name(of: uuid, in: declarations)
    }

    private static func name(of uuid: BluetoothUUID, in table: [UInt16: String]) -> String? {
        guard case .short(let value) = uuid.attributeForm else { return nil }
        return table[value]
    }
}
