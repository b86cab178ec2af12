/// Names from the Assigned Numbers, for tools that print them.
///
/// Only common names are included. The stack itself works with the numbers.
///
/// Assigned Numbers.
package enum AssignedNames {
    /// The names of the attribute types that declare services and characteristics, by 16-bit UUID.
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

extension AssignedNames {
    /// The names of services, including those of member companies, by 16-bit UUID.
    ///
    /// Assigned Numbers, 3.4 and 3.11.
    package static let services: [UInt16: String] = [
        0x1800: "Generic Access",
        0x1801: "Generic Attribute",
        0x1802: "Immediate Alert",
        0x1803: "Link Loss",
        0x1804: "Tx Power",
        0x1805: "Current Time",
        0x1806: "Reference Time Update",
        0x1807: "Next DST Change",
        0x1808: "Glucose",
        0x1809: "Health Thermometer",
        0x180A: "Device Information",
        0x180D: "Heart Rate",
        0x180E: "Phone Alert Status",
        0x180F: "Battery",
        0x1810: "Blood Pressure",
        0x1811: "Alert Notification",
        0x1812: "Human Interface Device",
        0x1813: "Scan Parameters",
        0x1814: "Running Speed and Cadence",
        0x1815: "Automation IO",
        0x1816: "Cycling Speed and Cadence",
        0x1818: "Cycling Power",
        0x1819: "Location and Navigation",
        0x181A: "Environmental Sensing",
        0x181B: "Body Composition",
        0x181C: "User Data",
        0x181D: "Weight Scale",
        0x181E: "Bond Management",
        0x181F: "Continuous Glucose Monitoring",
        0x1820: "Internet Protocol Support",
        0x1821: "Indoor Positioning",
        0x1822: "Pulse Oximeter",
        0x1823: "HTTP Proxy",
        0x1824: "Transport Discovery",
        0x1825: "Object Transfer",
        0x1826: "Fitness Machine",
        0x1827: "Mesh Provisioning",
        0x1828: "Mesh Proxy",
        0x1829: "Reconnection Configuration",
        0x183A: "Insulin Delivery",
        0x183B: "Binary Sensor",
        0x183C: "Emergency Configuration",
        0x183E: "Physical Activity Monitor",
        0x1840: "Generic Health Sensor",
        0x1843: "Audio Input Control",
        0x1844: "Volume Control",
        0x1845: "Volume Offset Control",
        0x1846: "Coordinated Set Identification",
        0x1847: "Device Time",
        0x1848: "Media Control",
        0x1849: "Generic Media Control",
        0x184A: "Constant Tone Extension",
        0x184B: "Telephone Bearer",
        0x184C: "Generic Telephone Bearer",
        0x184D: "Microphone Control",
        0x184E: "Audio Stream Control",
        0x184F: "Broadcast Audio Scan",
        0x1850: "Published Audio Capabilities",
        0x1851: "Basic Audio Announcement",
        0x1852: "Broadcast Audio Announcement",
        0x1853: "Common Audio",
        0x1854: "Hearing Access",
        0x1855: "Telephony and Media Audio",
        0x1856: "Public Broadcast Announcement",
        0x1857: "Electronic Shelf Label",
        0x1858: "Gaming Audio",
        0x1859: "Mesh Proxy Solicitation",
        0x185A: "Industrial Measurement Device",
        0x185B: "Ranging",
        0xFD6F: "Exposure Notification",
        0xFE2C: "Fast Pair",
        0xFE59: "Nordic Secure DFU",
        0xFEAA: "Eddystone",
        0xFFF6: "Matter",
        0xFFFA: "Open Drone ID",
    ]

    /// The names of descriptors, by 16-bit UUID.
    ///
    /// Assigned Numbers, 3.7.
    package static let descriptors: [UInt16: String] = [
        0x2900: "Characteristic Extended Properties",
        0x2901: "Characteristic User Description",
        0x2902: "Client Characteristic Configuration",
        0x2903: "Server Characteristic Configuration",
        0x2904: "Characteristic Presentation Format",
        0x2905: "Characteristic Aggregate Format",
        0x2906: "Valid Range",
        0x2907: "External Report Reference",
        0x2908: "Report Reference",
        0x2909: "Number of Digitals",
        0x290A: "Value Trigger Setting",
        0x290B: "Environmental Sensing Configuration",
        0x290C: "Environmental Sensing Measurement",
        0x290D: "Environmental Sensing Trigger Setting",
        0x290E: "Time Trigger Setting",
        0x290F: "Complete BR-EDR Transport Block Data",
        0x2910: "Observation Schedule",
        0x2911: "Valid Range and Accuracy",
        0x2912: "Manufacturer Limits",
        0x2913: "Process Tolerances",
        0x2914: "IMD Trigger Setting",
    ]
}

/// The number of a company in manufacturer data.
///
/// Assigned Numbers, 7.
package struct CompanyIdentifier: WireField, Hashable {
    package let wire: UInt16
    package init(wire: UInt16) { self.wire = wire }

    /// The identifier 0xFFFF, which no company has and which is meant for tests.
    package static let none = Self(wire: 0xFFFF)

    /// The name of the company; `nil` if it is not in the table of well-known companies.
    package var name: String? { AssignedNames.companies[wire] }
}

extension CompanyIdentifier: CustomStringConvertible {
    /// The company's name, or four hex digits.
    package var description: String {
        name ?? "0x" + [UInt8(wire >> 8), UInt8(wire & 0xFF)].hexadecimal.uppercased()
    }
}
