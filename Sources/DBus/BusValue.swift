/// A D-Bus value; D-Bus Specification, Marshaling.
package enum BusValue: Hashable, Sendable {
    case byte(UInt8)
    case boolean(Bool)
    case int16(Int16)
    case uint16(UInt16)
    case int32(Int32)
    case uint32(UInt32)
    case int64(Int64)
    case uint64(UInt64)
    case double(Double)
    case string(String)
    case path(String)
    case signature(String)
    indirect case variant(BusValue)
    /// An index into the file descriptors that come with the message.
    case descriptor(UInt32)
    /// An array of bytes; a decoded array of bytes always has this case.
    case octets([UInt8])
    case array(of: BusType, [BusValue])
    case structure([BusValue])
    indirect case entry(BusValue, BusValue)

    package var type: BusType {
        switch self {
        case .byte: .byte
        case .boolean: .boolean
        case .int16: .int16
        case .uint16: .uint16
        case .int32: .int32
        case .uint32: .uint32
        case .int64: .int64
        case .uint64: .uint64
        case .double: .double
        case .string: .string
        case .path: .path
        case .signature: .signature
        case .variant: .variant
        case .descriptor: .descriptor
        case .octets: .array(.byte)
        case .array(let element, _): .array(element)
        case .structure(let members): .structure(members.map(\.type))
        case .entry(let key, let value): .entry(key.type, value.type)
        }
    }

    /// The alignment of the value, in octets.
    private var alignment: Int {
        switch self {
        case .array, .octets: 4
        case .structure, .entry: 8
        default: type.alignment
        }
    }

    /// Appends the code of the value's type in a signature.
    package func writeCode(to octets: inout [UInt8]) {
        switch self {
        case .array(let element, _):
            octets.append(UInt8(ascii: "a"))
            element.writeCode(to: &octets)
        case .structure(let members):
            octets.append(UInt8(ascii: "("))
            for member in members { member.writeCode(to: &octets) }
            octets.append(UInt8(ascii: ")"))
        default: type.writeCode(to: &octets)
        }
    }

    /// Appends the value in little-endian order to octets that begin at a multiple of 8.
    package func write(to octets: inout [UInt8]) {
        octets.pad(to: alignment)
        switch self {
        case .byte(let value): octets.append(value)
        case .boolean(let value): octets.append(number: UInt32(value ? 1 : 0))
        case .int16(let value): octets.append(number: UInt16(bitPattern: value))
        case .uint16(let value): octets.append(number: value)
        case .int32(let value): octets.append(number: UInt32(bitPattern: value))
        case .uint32(let value), .descriptor(let value): octets.append(number: value)
        case .int64(let value): octets.append(number: UInt64(bitPattern: value))
        case .uint64(let value): octets.append(number: value)
        case .double(let value): octets.append(number: value.bitPattern)
        case .string(let text), .path(let text):
            octets.appendCounted { octets in
                // An octet 0 would end the text, and the bus ends the connection for it.
                if text.utf8.contains(0) { octets += text.utf8.filter { $0 != 0 } } else { octets += text.utf8 }
            }
            octets.append(0)
        case .signature(let text): octets.appendSignature { $0 += text.utf8 }
        case .variant(let value):
            octets.appendSignature { value.writeCode(to: &$0) }
            value.write(to: &octets)
        case .octets(let values):
            octets.append(number: UInt32(truncatingIfNeeded: values.count))
            octets += values
        case .array(let element, let values):
            octets.appendCounted(alignment: element.alignment) { octets in
                for value in values { value.write(to: &octets) }
            }
        case .structure(let members): for member in members { member.write(to: &octets) }
        case .entry(let key, let value):
            key.write(to: &octets)
            value.write(to: &octets)
        }
    }
}

extension [UInt8] {
    mutating func pad(to alignment: Int) {
        // All alignments are powers of two.
        let missing = -count & (alignment - 1)
        for _ in 0..<missing { append(0) }
    }

    /// Appends a length, padding to `alignment`, and the octets that `write` appends.
    ///
    /// The length has four octets, and counts only the octets from `write`.
    mutating func appendCounted(alignment: Int = 1, _ write: (inout Self) -> Void) {
        let place = count
        append(number: UInt32(0))
        pad(to: alignment)
        let begin = count
        write(&self)
        let length = UInt32(truncatingIfNeeded: count - begin)
        for index in 0..<4 { self[place + index] = UInt8(truncatingIfNeeded: length >> (8 * index)) }
    }

    /// Appends the signature whose codes `write` appends.
    mutating func appendSignature(_ write: (inout Self) -> Void) {
        let place = count
        append(0)
        write(&self)
        self[place] = UInt8(truncatingIfNeeded: count - place - 1)
        append(0)
    }

    mutating func append(number: some FixedWidthInteger & UnsignedInteger) {
        for index in 0..<number.bitWidth / 8 { append(UInt8(truncatingIfNeeded: number >> (8 * index))) }
    }
}

/// The contents of a value by type; a property is `nil` if the value is of another type.
///
/// A variant has the contents of the value inside it.
extension BusValue {
    package var text: String? {
        switch self {
        case .string(let text), .path(let text): text
        case .variant(let value): value.text
        default: nil
        }
    }

    package var flag: Bool? {
        switch self {
        case .boolean(let flag): flag
        case .variant(let value): value.flag
        default: nil
        }
    }

    /// The value of an integer of any width; `nil` if it does not fit in an `Int`.
    package var integer: Int? {
        switch self {
        case .byte(let value): Int(value)
        case .int16(let value): Int(value)
        case .uint16(let value): Int(value)
        case .int32(let value): Int(value)
        case .uint32(let value): Int(value)
        case .int64(let value): Int(value)
        case .uint64(let value): Int(exactly: value)
        case .variant(let value): value.integer
        default: nil
        }
    }

    package var bytes: [UInt8]? {
        switch self {
        case .octets(let octets): octets
        case .array(of: .byte, let values): values.compactMap { if case .byte(let value) = $0 { value } else { nil } }
        case .variant(let value): value.bytes
        default: nil
        }
    }

    package var elements: [BusValue]? {
        switch self {
        case .array(_, let values): values
        case .structure(let members): members
        case .variant(let value): value.elements
        default: nil
        }
    }

    /// The entries of a dictionary, in the order in which they were sent.
    package var entries: [(key: BusValue, value: BusValue)]? {
        elements?.compactMap { if case .entry(let key, let value) = $0 { (key, value) } else { nil } }
    }

    /// Returns the value that a dictionary has for a key, without the variant around it; `nil` if there is none.
    package subscript(key name: String) -> BusValue? {
        guard let value = entries?.last(where: { $0.key.text == name })?.value else { return nil }
        if case .variant(let inner) = value { return inner }
        return value
    }

    /// Creates a dictionary that maps each name in `values` to a variant with the corresponding value.
    package static func properties(_ values: [(String, BusValue)]) -> BusValue {
        .array(of: .entry(.string, .variant), values.map { .entry(.string($0.0), .variant($0.1)) })
    }

    package static func strings(_ values: [String]) -> BusValue { .array(of: .string, values.map(BusValue.string)) }
}
