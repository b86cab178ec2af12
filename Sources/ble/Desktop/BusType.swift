/// The types of D-Bus values that notifications use; D-Bus Specification, Type System.
indirect enum BusType: Hashable, Sendable {
    case byte, boolean, int32, uint32, string, path, signature, variant
    case array(BusType)
    case structure([BusType])
    /// A key and a value of a dictionary, which is an array of such entries.
    case entry(BusType, BusType)

    /// The maximum nesting depth; the specification allows 64.
    static let depth = 8

    /// The alignment of a value of this type, in octets.
    var alignment: Int {
        switch self {
        case .byte, .signature, .variant: 1
        case .boolean, .int32, .uint32, .string, .path, .array: 4
        case .structure, .entry: 8
        }
    }

    /// The type code in a signature.
    var code: String {
        switch self {
        case .byte: "y"
        case .boolean: "b"
        case .int32: "i"
        case .uint32: "u"
        case .string: "s"
        case .path: "o"
        case .signature: "g"
        case .variant: "v"
        case .array(let element): "a" + element.code
        case .structure(let members): "(" + members.map(\.code).joined() + ")"
        case .entry(let key, let value): "{" + key.code + value.code + "}"
        }
    }

    /// True if this is a basic type, as the key of a dictionary must be.
    private var isBasic: Bool {
        switch self {
        case .byte, .boolean, .int32, .uint32, .string, .path, .signature: true
        case .variant, .array, .structure, .entry: false
        }
    }

    /// Returns the types in a signature; `nil` if it is malformed, too deep, or contains types that this enum does not
    /// have.
    static func list(_ signature: String) -> [BusType]? {
        guard signature.utf8.count <= 255 else { return nil }
        var rest = Array(signature.utf8)[...], types: [BusType] = []
        while !rest.isEmpty {
            guard let type = next(&rest, depth) else { return nil }
            types.append(type)
        }
        return types
    }

    private static func next(_ rest: inout ArraySlice<UInt8>, _ depth: Int) -> BusType? {
        guard depth > 0, let code = rest.popFirst() else { return nil }
        switch code {
        case UInt8(ascii: "y"): return .byte
        case UInt8(ascii: "b"): return .boolean
        case UInt8(ascii: "i"): return .int32
        case UInt8(ascii: "u"): return .uint32
        case UInt8(ascii: "s"): return .string
        case UInt8(ascii: "o"): return .path
        case UInt8(ascii: "g"): return .signature
        case UInt8(ascii: "v"): return .variant
        case UInt8(ascii: "("):
            guard let members = members(&rest, until: UInt8(ascii: ")"), depth), !members.isEmpty else { return nil }
            return .structure(members)
        case UInt8(ascii: "a"):
            guard rest.first == UInt8(ascii: "{") else { return next(&rest, depth - 1).map(BusType.array) }
            rest.removeFirst()
            guard let pair = members(&rest, until: UInt8(ascii: "}"), depth), pair.count == 2, pair[0].isBasic else {
                return nil
            }
            return .array(.entry(pair[0], pair[1]))
        default: return nil
        }
    }

    private static func members(_ rest: inout ArraySlice<UInt8>, until end: UInt8, _ depth: Int) -> [BusType]? {
        var members: [BusType] = []
        while let code = rest.first {
            if code == end {
                rest.removeFirst()
                return members
            }
            guard let member = next(&rest, depth - 1) else { return nil }
            members.append(member)
        }
        return nil
    }
}
