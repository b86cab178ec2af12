extension AssignedNames {
    /// The names of well-known companies, by company identifier.
    ///
    /// Assigned Numbers, 7.1.
    package static let companies: [UInt16: String] = [
        0x0000: "Ericsson",
        0x0001: "Nokia",
        0x0002: "Intel",
        0x0006: "Microsoft",
        0x000A: "Qualcomm Technologies International",
        0x000D: "Texas Instruments",
        0x000F: "Broadcom",
        0x001D: "Qualcomm",
        0x0030: "STMicroelectronics",
        0x004C: "Apple",
        0x0057: "Harman",
        0x0059: "Nordic Semiconductor",
        0x006B: "Polar Electro",
        0x0075: "Samsung Electronics",
        0x0078: "Nike",
        0x0087: "Garmin",
        0x009E: "Bose",
        0x00E0: "Google",
        0x012D: "Sony",
        0x0131: "Cypress Semiconductor",
        0x0157: "Huami",
        0x0171: "Amazon",
        0x01AB: "Meta Platforms",
        0x01DA: "Logitech",
        0x02E5: "Espressif",
        0x02FF: "Silicon Laboratories",
        0x0499: "Ruuvi Innovations",
        0x05A7: "Sonos",
        0x06D5: "Sensirion",
        0x0822: "Adafruit",
    ]

    /// The names of appearance categories, by category number.
    ///
    /// Assigned Numbers, 2.6.
    package static let appearanceCategories: [UInt16: String] = [
        0: "Unknown",
        1: "Phone",
        2: "Computer",
        3: "Watch",
        4: "Clock",
        5: "Display",
        6: "Remote Control",
        7: "Eyeglasses",
        8: "Tag",
        9: "Keyring",
        10: "Media Player",
        11: "Barcode Scanner",
        12: "Thermometer",
        13: "Heart Rate Sensor",
        14: "Blood Pressure",
        15: "Human Interface Device",
        16: "Glucose Meter",
        17: "Running Walking Sensor",
        18: "Cycling",
        19: "Control Device",
        20: "Network Device",
        21: "Sensor",
        22: "Light Fixtures",
        23: "Fan",
        24: "HVAC",
        25: "Air Conditioning",
        26: "Humidifier",
        27: "Heating",
        28: "Access Control",
        29: "Motorized Device",
        30: "Power Device",
        31: "Light Source",
        32: "Window Covering",
        33: "Audio Sink",
        34: "Audio Source",
        35: "Motorized Vehicle",
        36: "Domestic Appliance",
        37: "Wearable Audio Device",
        38: "Aircraft",
        39: "AV Equipment",
        40: "Display Equipment",
        41: "Hearing Aid",
        42: "Gaming",
        43: "Signage",
        49: "Pulse Oximeter",
        50: "Weight Scale",
        51: "Personal Mobility Device",
        52: "Continuous Glucose Monitor",
        53: "Insulin Pump",
        54: "Medication Delivery",
        55: "Spirometer",
        81: "Outdoor Sports Activity",
    ]
}

/// The appearance of a device: a category in the upper ten bits, a subcategory in the lower six.
///
/// Core Specification Supplement 11, Part A, 1.12; Assigned Numbers, 2.6.
package struct Appearance: WireField, Hashable {
    package let wire: UInt16
    package init(wire: UInt16) { self.wire = wire }

    package static let unknown = Self(wire: 0x0000)

    /// The category, 0 to 1023.
    package var category: UInt16 { wire >> 6 }

    /// The subcategory, 0 to 63; 0 for a generic device of the category.
    package var subcategory: UInt16 { wire & 0x3F }

    /// The name of the category; `nil` if it is unknown.
    package var categoryName: String? { AssignedNames.appearanceCategories[category] }
}

extension Appearance: CustomStringConvertible {
    /// The name of the category, and the number of the subcategory unless it is 0; four hex digits for an unknown
    /// category.
    package var description: String {
        let digits = "0x" + [UInt8(wire >> 8), UInt8(wire & 0xFF)].hexadecimal.uppercased()
        guard let categoryName else { return digits }
        return subcategory == 0 ? categoryName : "\(categoryName) (\(subcategory))"
    }
}
