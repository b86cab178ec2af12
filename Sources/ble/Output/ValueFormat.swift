import CoreBluetooth

/// The format in which a characteristic's value is shown to users.
///
/// GATT Specification Supplement 9, 3; Core 6.0, Vol 3, Part G, 3.3.3.5.
struct ValueFormat: Equatable {
    /// The type of a value.
    ///
    /// Numbers are sent with the least significant octet first.
    enum Kind: Equatable {
        case text
        case unsigned(octets: Int)
        case signed(octets: Int)
        /// A heart rate: one octet of flags, then the rate. The rate has 2 octets if the lowest flag is set, otherwise
        /// 1.
        case heartRate
    }

    let kind: Kind
    /// The power of ten by which the number is multiplied.
    var exponent = 0
    /// The unit after the number, with a space in front if needed.
    var unit = ""

    /// Formats a value for people to read: its text in quotation marks, or its number with the unit; `nil` if its
    /// octets do not fit the format.
    func text(of data: Data) -> String? {
        kind == .text ? data.text.map { "“\($0)”" } : reading(of: data)
    }

    /// Returns a value for scripts: its text, or its number with the unit; `nil` if its octets do not fit the format.
    func reading(of data: Data) -> String? {
        kind == .text ? data.text : digits(of: data).map { $0 + unit }
    }

    /// Returns the number that a value encodes, in the unit of the format; `nil` if the format is text, or the octets
    /// do not fit it.
    func number(of data: Data) -> Decimal? {
        digits(of: data).flatMap { Decimal(string: $0, locale: Locale(identifier: "en_US_POSIX")) }
    }

    /// Returns the number that a value encodes, as decimal text without rounding; `nil` if the format is text, or the
    /// octets do not fit it.
    private func digits(of data: Data) -> String? {
        let octets = [UInt8](data)
        switch kind {
        case .text: return nil
        case .heartRate:
            guard let flags = octets.first else { return nil }
            let isWide = flags & 1 != 0
            guard octets.count >= (isWide ? 3 : 2) else { return nil }
            return "\(isWide ? Int(octets[1]) | Int(octets[2]) << 8 : Int(octets[1]))"
        case .unsigned(let count), .signed(let count):
            guard octets.count == count, 1...8 ~= count else { return nil }
            let raw = octets.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            guard kind == .signed(octets: count) else { return Self.scaled(raw, isNegative: false, exponent) }
            let shift = UInt64(64 - 8 * count), value = Int64(bitPattern: raw << shift) >> Int64(shift)
            return Self.scaled(value.magnitude, isNegative: value < 0, exponent)
        }
    }

    /// Returns a number times a power of ten as decimal text, without rounding.
    private static func scaled(_ magnitude: UInt64, isNegative: Bool, _ exponent: Int) -> String {
        var digits = "\(magnitude)"
        if exponent > 0, magnitude != 0 { digits += String(repeating: "0", count: exponent) }
        if exponent < 0 {
            digits = String(repeating: "0", count: max(0, 1 - exponent - digits.count)) + digits
            digits.insert(".", at: digits.index(digits.endIndex, offsetBy: exponent))
        }
        return (isNegative ? "-" : "") + digits
    }
}

extension ValueFormat {
    /// Creates the format that the Bluetooth SIG assigns to a type of characteristic; `nil` if `ble` does not know the
    /// format.
    init?(assignedTo uuid: CBUUID) {
        guard let format = Self.assigned[uuid.uuidString] else { return nil }
        self = format
    }

    /// Creates the format from the value of a Characteristic Presentation Format descriptor; `nil` if the described
    /// format is neither text nor a whole number.
    init?(presentation descriptor: Data) {
        let octets = [UInt8](descriptor)
        guard octets.count >= 4 else { return nil }
        switch octets[0] {
        case 0x01, 0x04: kind = .unsigned(octets: 1)
        case 0x06: kind = .unsigned(octets: 2)
        case 0x07: kind = .unsigned(octets: 3)
        case 0x08: kind = .unsigned(octets: 4)
        case 0x0A: kind = .unsigned(octets: 8)
        case 0x0C: kind = .signed(octets: 1)
        case 0x0E: kind = .signed(octets: 2)
        case 0x0F: kind = .signed(octets: 3)
        case 0x10: kind = .signed(octets: 4)
        case 0x12: kind = .signed(octets: 8)
        case 0x19: kind = .text
        default: return nil
        }
        exponent = Int(Int8(bitPattern: octets[1]))
        unit = Self.units[UInt16(octets[2]) | UInt16(octets[3]) << 8] ?? ""
    }

    /// Creates the format that a characteristic's Characteristic Presentation Format descriptor states or, if there is
    /// none that `ble` knows, the one assigned to the characteristic's type.
    ///
    /// `nil` if neither gives a format that `ble` knows.
    init?(of characteristic: CBCharacteristic) {
        let descriptors = characteristic.descriptors ?? []
        let described = descriptors.first { $0.uuid.uuidString == CBUUIDCharacteristicFormatString }?.value as? Data
        guard let format = described.flatMap({ Self(presentation: $0) }) ?? Self(assignedTo: characteristic.uuid) else {
            return nil
        }
        self = format
    }

    private static func unsigned(_ octets: Int, _ exponent: Int = 0, _ unit: String = "") -> Self {
        Self(kind: .unsigned(octets: octets), exponent: exponent, unit: unit)
    }

    private static func signed(_ octets: Int, _ exponent: Int = 0, _ unit: String = "") -> Self {
        Self(kind: .signed(octets: octets), exponent: exponent, unit: unit)
    }

    private static let text = Self(kind: .text)

    /// The assigned formats, by the UUID of the characteristic.
    private static let assigned: [String: Self] = [
        "2A00": text, "2A01": unsigned(2), "2A07": signed(1, 0, " dBm"), "2A19": unsigned(1, 0, " %"),
        "2A24": text, "2A25": text, "2A26": text, "2A27": text, "2A28": text, "2A29": text,
        "2A37": Self(kind: .heartRate, unit: " bpm"), "2A3D": text,
        "2A6C": signed(3, -2, " m"), "2A6D": unsigned(4, -1, " Pa"), "2A6E": signed(2, -2, " °C"),
        "2A6F": unsigned(2, -2, " %"), "2A70": unsigned(2, -2, " m/s"), "2A71": unsigned(2, -2, "°"),
        "2A72": unsigned(2, -2, " m/s"), "2A73": unsigned(2, -2, "°"), "2A74": unsigned(1, -1),
        "2A75": unsigned(3, 0, " /m³"), "2A76": unsigned(1), "2A77": unsigned(2, -1, " W/m²"),
        "2A78": unsigned(2, 0, " mm"), "2A79": signed(1, 0, " °C"), "2A7A": signed(1, 0, " °C"),
        "2A7B": signed(1, 0, " °C"), "2A80": unsigned(1, 0, " years"), "2A87": text, "2A8A": text, "2A90": text,
        "2AFB": unsigned(3, -2, " lx"),
    ]

    /// The symbols of units, by the assigned number of the unit.
    private static let units: [UInt16: String] = [
        0x2701: " m", 0x2702: " kg", 0x2703: " s", 0x2704: " A", 0x2705: " K", 0x2712: " m/s", 0x2713: " m/s²",
        0x2722: " Hz", 0x2723: " N", 0x2724: " Pa", 0x2725: " J", 0x2726: " W", 0x2728: " V", 0x272A: " Ω",
        0x272F: " °C", 0x2731: " lx", 0x2760: " min", 0x2761: " h", 0x2762: " d", 0x2763: "°", 0x2780: " bar",
        0x27A0: " yd", 0x27A2: " in", 0x27A3: " ft", 0x27A5: " psi", 0x27A6: " km/h",
        0x27A8: " rpm", 0x27AC: " °F", 0x27AD: " %", 0x27AE: " ‰", 0x27AF: " bpm",
    ]
}
