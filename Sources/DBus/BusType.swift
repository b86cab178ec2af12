/// The types of D-Bus values; D-Bus Specification, Type System.
package enum BusType: Hashable, Sendable {
    case byte, boolean, int16, uint16, int32, uint32, int64, uint64, double, string, path, signature, variant
    /// An index into the file descriptors that come with the message.
    case descriptor
    indirect case array(BusType)
    case structure([BusType])
    /// A key and a value of a dictionary, which is an array of such entries.
    indirect case entry(BusType, BusType)

    /// The maximum nesting depth; the specification allows 64.
    package static let depth = 16

    /// The alignment of a value of this type, in octets.
    package var alignment: Int {
        switch self {
        case .byte, .signature, .variant: 1
        case .int16, .uint16: 2
        case .boolean, .int32, .uint32, .string, .path, .array, .descriptor: 4
        case .int64, .uint64, .double, .structure, .entry: 8
        }
    }

    /// The type code in a signature.
    package var code: String {
        var octets: [UInt8] = []
        writeCode(to: &octets)
        return String(decoding: octets, as: UTF8.self)
    }

    /// Appends the type code in a signature.
    func writeCode(to octets: inout [UInt8]) {
        switch self {
        case .byte: octets.append(UInt8(ascii: "y"))
        case .boolean: octets.append(UInt8(ascii: "b"))
        case .int16: octets.append(UInt8(ascii: "n"))
        case .uint16: octets.append(UInt8(ascii: "q"))
        case .int32: octets.append(UInt8(ascii: "i"))
        case .uint32: octets.append(UInt8(ascii: "u"))
        case .int64: octets.append(UInt8(ascii: "x"))
        case .uint64: octets.append(UInt8(ascii: "t"))
        case .double: octets.append(UInt8(ascii: "d"))
        case .string: octets.append(UInt8(ascii: "s"))
        case .path: octets.append(UInt8(ascii: "o"))
        case .signature: octets.append(UInt8(ascii: "g"))
        case .variant: octets.append(UInt8(ascii: "v"))
        case .descriptor: octets.append(UInt8(ascii: "h"))
        case .array(let element):
            octets.append(UInt8(ascii: "a"))
            element.writeCode(to: &octets)
        case .structure(let members):
            octets.append(UInt8(ascii: "("))
            for member in members { member.writeCode(to: &octets) }
            octets.append(UInt8(ascii: ")"))
        case .entry(let key, let value):
            octets.append(UInt8(ascii: "{"))
            key.writeCode(to: &octets)
            value.writeCode(to: &octets)
            octets.append(UInt8(ascii: "}"))
        }
    }

    /// True if this is a basic type, as the key of a dictionary must be.
    private var isBasic: Bool {
        switch self {
        case .variant, .array, .structure, .entry: false
        case .byte, .boolean, .int16, .uint16, .int32, .uint32, .int64, .uint64, .double, .string, .path, .signature,
            .descriptor:
            true
        }
    }

    private init?(basic code: UInt8) {
        switch code {
        case UInt8(ascii: "y"): self = .byte
        case UInt8(ascii: "b"): self = .boolean
        case UInt8(ascii: "n"): self = .int16
        case UInt8(ascii: "q"): self = .uint16
        case UInt8(ascii: "i"): self = .int32
        case UInt8(ascii: "u"): self = .uint32
        case UInt8(ascii: "x"): self = .int64
        case UInt8(ascii: "t"): self = .uint64
        case UInt8(ascii: "d"): self = .double
        case UInt8(ascii: "s"): self = .string
        case UInt8(ascii: "o"): self = .path
        case UInt8(ascii: "g"): self = .signature
        case UInt8(ascii: "v"): self = .variant
        case UInt8(ascii: "h"): self = .descriptor
        default: return nil
        }
    }

    /// Returns the types in a signature; `nil` if it is malformed, too deep, or contains types that this enum does not
    /// have.
    package static func list(_ signature: String) -> [BusType]? {
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
        default: return BusType(basic: code)
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
