package import BLEWire

extension BluetoothUUID {
    /// The kinds of attributes for which the Bluetooth SIG assigns names.
    package enum Named: CaseIterable {
        case service
        case characteristic
        case descriptor
    }

    /// Parses a UUID in the form that people write: 4, 8 or 36 characters, optionally after `0x`, or a name that the
    /// Bluetooth SIG has assigned, such as `Battery Level`.
    ///
    /// Upper and lower case are equivalent, and hyphens or underscores may join the words of a name. The name of a
    /// service may be followed by the word `Service`. The result is `nil` for any other text.
    ///
    /// - Parameters:
    ///   - text: The text to parse.
    ///   - kinds: The kinds of attributes whose names are valid here. If several kinds have the name, the first of them
    ///     is used.
    package init?(written text: some StringProtocol, naming kinds: [Named] = Named.allCases) {
        let digits = text.lowercased().hasPrefix("0x") ? text.dropFirst(2) : text[...]
        guard let uuid = Self(digits) ?? kinds.lazy.compactMap({ Self(named: Self.key(of: text), $0) }).first else {
            return nil
        }
        self = uuid
    }

    private init?(named key: String, _ kind: Named) {
        guard let table = Self.numbers[kind] else { return nil }
        let number =
            table[key] ?? (kind == .service && key.hasSuffix(" service") ? table[String(key.dropLast(8))] : nil)
        guard let number else { return nil }
        self = .short(number)
    }

    /// Returns the key under which ``numbers`` contains a name; it is the same for all spellings of the name.
    private static func key(of name: some StringProtocol) -> String {
        name.lowercased().split { $0 == " " || $0 == "-" || $0 == "_" }.joined(separator: " ")
    }

    /// The assigned numbers, by the key of their name.
    ///
    /// If several numbers have the same name, the lowest is used.
    private static let numbers: [Named: [String: UInt16]] = [
        .service: numbers(in: AssignedNames.services),
        .characteristic: numbers(in: AssignedNames.characteristics),
        .descriptor: numbers(in: AssignedNames.descriptors),
    ]

    private static func numbers(in names: [UInt16: String]) -> [String: UInt16] {
        Dictionary(names.map { (key(of: $0.value), $0.key) }, uniquingKeysWith: min)
    }
}
