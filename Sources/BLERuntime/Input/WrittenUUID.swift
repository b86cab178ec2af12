package import BLEWire

extension BluetoothUUID {
    /// The kinds of attributes that names are assigned to.
    package enum Named: CaseIterable {
        case service
        case characteristic
        case descriptor
    }

    /// Reads a UUID as people write it: 4, 8 or 36 characters, which may follow `0x`, or a name that the Bluetooth SIG
    /// has assigned, such as `Battery Level`.
    ///
    /// Letters may be in either case, and the words of a name may be joined by hyphens or underscores.
    ///
    /// - Parameters:
    ///   - text: What is written.
    ///   - kinds: What may be named. Where several are, the first that knows the name decides.
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

    /// What tells names apart.
    private static func key(of name: some StringProtocol) -> String {
        name.lowercased().split { $0 == " " || $0 == "-" || $0 == "_" }.joined(separator: " ")
    }

    /// The numbers by the keys of their names; of several with the same name the lowest.
    private static let numbers: [Named: [String: UInt16]] = [
        .service: numbers(in: AssignedNames.services),
        .characteristic: numbers(in: AssignedNames.characteristics),
        .descriptor: numbers(in: AssignedNames.descriptors),
    ]

    private static func numbers(in names: [UInt16: String]) -> [String: UInt16] {
        Dictionary(names.map { (key(of: $0.value), $0.key) }, uniquingKeysWith: min)
    }
}
