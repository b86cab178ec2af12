/// A decoder of D-Bus values from untrusted octets; its methods return `nil` if the octets are malformed.
package struct BusReader {
    /// The maximum number of values in a message; a message with more values is malformed.
    ///
    /// An array of bytes counts as one value.
    private static let limit = 65_536

    private let octets: [UInt8]
    private let isBigEndian: Bool
    private var values = 0
    private(set) var position = 0

    /// Creates a reader for octets; values are aligned relative to the first octet.
    package init(_ octets: [UInt8], isBigEndian: Bool = false) {
        self.octets = octets
        self.isBigEndian = isBigEndian
    }

    /// Decodes all octets as values of the types in `signature`; `nil` if they do not match exactly.
    package mutating func all(_ signature: String) -> [BusValue]? {
        guard let types = BusType.list(signature), let values = list(types, BusType.depth) else { return nil }
        return position == octets.count ? values : nil
    }

    private mutating func list(_ types: [BusType], _ depth: Int) -> [BusValue]? {
        var values: [BusValue] = []
        for type in types {
            guard let value = value(type, depth) else { return nil }
            values.append(value)
        }
        return values
    }

    private mutating func value(_ type: BusType, _ depth: Int) -> BusValue? {
        values += 1
        guard depth >= 0, values <= Self.limit, align(to: type.alignment) else { return nil }
        switch type {
        case .byte: return take(1)?.first.map(BusValue.byte)
        case .boolean: return number().flatMap { $0 <= 1 ? .boolean($0 == 1) : nil }
        case .int16: return short().map { .int16(Int16(bitPattern: $0)) }
        case .uint16: return short().map(BusValue.uint16)
        case .int32: return number().map { .int32(Int32(bitPattern: $0)) }
        case .uint32: return number().map(BusValue.uint32)
        case .descriptor: return number().map(BusValue.descriptor)
        case .int64: return long().map { .int64(Int64(bitPattern: $0)) }
        case .uint64: return long().map(BusValue.uint64)
        case .double: return long().map { .double(Double(bitPattern: $0)) }
        case .string: return number().flatMap { text(Int($0)) }.map(BusValue.string)
        case .path: return number().flatMap { text(Int($0)) }.flatMap { $0.hasPrefix("/") ? .path($0) : nil }
        case .signature: return signature().map(BusValue.signature)
        case .variant:
            guard let types = signature().flatMap(BusType.list), types.count == 1 else { return nil }
            return value(types[0], depth - 1).map(BusValue.variant)
        case .array(.byte): return number().flatMap { take(Int($0)) }.map { .octets(Array($0)) }
        case .array(let element): return array(of: element, depth)
        case .structure(let members): return list(members, depth - 1).map(BusValue.structure)
        case .entry(let key, let content):
            guard let key = value(key, depth - 1), let content = value(content, depth - 1) else { return nil }
            return .entry(key, content)
        }
    }

    private mutating func array(of element: BusType, _ depth: Int) -> BusValue? {
        guard let length = number(), align(to: element.alignment), length <= octets.count - position else { return nil }
        let end = position + Int(length)
        var elements: [BusValue] = []
        while position < end {
            guard let next = value(element, depth - 1), position <= end else { return nil }
            elements.append(next)
        }
        return .array(of: element, elements)
    }

    private mutating func signature() -> String? { take(1)?.first.flatMap { text(Int($0)) } }

    /// Reads text of `count` octets and the zero octet after it.
    private mutating func text(_ count: Int) -> String? {
        guard count < octets.count, let taken = take(count + 1), taken.firstIndex(of: 0) == taken.endIndex - 1 else {
            return nil
        }
        return String(validating: taken.dropLast(), as: UTF8.self)
    }

    private mutating func short() -> UInt16? { integer(2).map { UInt16(truncatingIfNeeded: $0) } }

    private mutating func number() -> UInt32? { integer(4).map { UInt32(truncatingIfNeeded: $0) } }

    private mutating func long() -> UInt64? { integer(8) }

    private mutating func integer(_ count: Int) -> UInt64? {
        guard let taken = take(count) else { return nil }
        let ordered = isBigEndian ? Array(taken) : taken.reversed()
        return ordered.reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Skips the padding before an aligned value; returns false if octets of the padding are missing or not 0.
    private mutating func align(to alignment: Int) -> Bool {
        guard let padding = take((alignment - position % alignment) % alignment) else { return false }
        return padding.allSatisfy { $0 == 0 }
    }

    private mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
        guard count <= octets.count - position else { return nil }
        defer { position += count }
        return octets[position..<position + count]
    }
}
