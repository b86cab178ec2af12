/// The type of a structure in advertising data.
///
/// The types are listed in Assigned Numbers, 2.3, and their formats in the Core Specification Supplement 11, Part A.
package struct ADType: WireField, Hashable {
    package let wire: UInt8
    package init(wire: UInt8) { self.wire = wire }

    package static let flags = Self(wire: 0x01)
    package static let incompleteServiceUUIDs16 = Self(wire: 0x02)
    package static let completeServiceUUIDs16 = Self(wire: 0x03)
    package static let incompleteServiceUUIDs32 = Self(wire: 0x04)
    package static let completeServiceUUIDs32 = Self(wire: 0x05)
    package static let incompleteServiceUUIDs128 = Self(wire: 0x06)
    package static let completeServiceUUIDs128 = Self(wire: 0x07)
    package static let shortenedLocalName = Self(wire: 0x08)
    package static let completeLocalName = Self(wire: 0x09)
    package static let transmitPower = Self(wire: 0x0A)
    package static let peripheralConnectionIntervalRange = Self(wire: 0x12)
    package static let solicitedServiceUUIDs16 = Self(wire: 0x14)
    package static let solicitedServiceUUIDs128 = Self(wire: 0x15)
    package static let serviceData16 = Self(wire: 0x16)
    package static let appearance = Self(wire: 0x19)
    package static let solicitedServiceUUIDs32 = Self(wire: 0x1F)
    package static let serviceData32 = Self(wire: 0x20)
    package static let serviceData128 = Self(wire: 0x21)
    package static let manufacturerData = Self(wire: 0xFF)

    /// The purpose of a list of UUIDs, with the length of each UUID.
    enum ListOfUUIDs { case services(octets: Int), solicitation(octets: Int) }

    /// The kind of UUID list in a structure of this type; `nil` for types without such a list.
    var list: ListOfUUIDs? {
        switch self {
        case .incompleteServiceUUIDs16, .completeServiceUUIDs16: .services(octets: 2)
        case .incompleteServiceUUIDs32, .completeServiceUUIDs32: .services(octets: 4)
        case .incompleteServiceUUIDs128, .completeServiceUUIDs128: .services(octets: 16)
        case .solicitedServiceUUIDs16: .solicitation(octets: 2)
        case .solicitedServiceUUIDs32: .solicitation(octets: 4)
        case .solicitedServiceUUIDs128: .solicitation(octets: 16)
        default: nil
        }
    }

    /// The length of the UUID at the beginning of service data of this type, in octets; `nil` for other types.
    var serviceDataUUIDLength: Int? {
        switch self {
        case .serviceData16: 2
        case .serviceData32: 4
        case .serviceData128: 16
        default: nil
        }
    }
}

extension ADType: CustomStringConvertible {
    /// The type's name in Assigned Numbers, or its code.
    package var description: String { Self.names[wire] ?? "AD Type 0x" + [wire].hexadecimal.uppercased() }

    private static let names: [UInt8: String] = [
        0x01: "Flags",
        0x02: "Incomplete List of 16-bit Service UUIDs",
        0x03: "Complete List of 16-bit Service UUIDs",
        0x04: "Incomplete List of 32-bit Service UUIDs",
        0x05: "Complete List of 32-bit Service UUIDs",
        0x06: "Incomplete List of 128-bit Service UUIDs",
        0x07: "Complete List of 128-bit Service UUIDs",
        0x08: "Shortened Local Name",
        0x09: "Complete Local Name",
        0x0A: "Tx Power Level",
        0x0D: "Class of Device",
        0x0E: "Simple Pairing Hash C-192",
        0x0F: "Simple Pairing Randomizer R-192",
        0x10: "Security Manager TK Value",
        0x11: "Security Manager Out of Band Flags",
        0x12: "Peripheral Connection Interval Range",
        0x14: "List of 16-bit Service Solicitation UUIDs",
        0x15: "List of 128-bit Service Solicitation UUIDs",
        0x16: "Service Data - 16-bit UUID",
        0x17: "Public Target Address",
        0x18: "Random Target Address",
        0x19: "Appearance",
        0x1A: "Advertising Interval",
        0x1B: "LE Bluetooth Device Address",
        0x1C: "LE Role",
        0x1D: "Simple Pairing Hash C-256",
        0x1E: "Simple Pairing Randomizer R-256",
        0x1F: "List of 32-bit Service Solicitation UUIDs",
        0x20: "Service Data - 32-bit UUID",
        0x21: "Service Data - 128-bit UUID",
        0x22: "LE Secure Connections Confirmation Value",
        0x23: "LE Secure Connections Random Value",
        0x24: "URI",
        0x25: "Indoor Positioning",
        0x26: "Transport Discovery Data",
        0x27: "LE Supported Features",
        0x28: "Channel Map Update Indication",
        0x29: "PB-ADV",
        0x2A: "Mesh Message",
        0x2B: "Mesh Beacon",
        0x2C: "BIGInfo",
        0x2D: "Broadcast Code",
        0x2E: "Resolvable Set Identifier",
        0x2F: "Advertising Interval - long",
        0x30: "Broadcast Name",
        0x31: "Encrypted Advertising Data",
        0x32: "Periodic Advertising Response Timing Information",
        0x34: "Electronic Shelf Label",
        0x3D: "3D Information Data",
        0xFF: "Manufacturer Specific Data",
    ]
}
