/// A D-Bus value; D-Bus Specification, Marshaling.
indirect enum BusValue: Hashable, Sendable {
    case byte(UInt8)
    case boolean(Bool)
    case int32(Int32)
    case uint32(UInt32)
    case string(String)
    case path(String)
    case signature(String)
    case variant(BusValue)
    case array(of: BusType, [BusValue])
    case structure([BusValue])
    case entry(BusValue, BusValue)

    var type: BusType {
        switch self {
        case .byte: .byte
        case .boolean: .boolean
        case .int32: .int32
        case .uint32: .uint32
        case .string: .string
        case .path: .path
        case .signature: .signature
        case .variant: .variant
        case .array(let element, _): .array(element)
        case .structure(let members): .structure(members.map(\.type))
        case .entry(let key, let value): .entry(key.type, value.type)
        }
    }

    /// Appends the value to `octets` in little-endian order, aligned relative to the first octet.
    func write(to octets: inout [UInt8]) {
        octets.pad(to: type.alignment)
        switch self {
        case .byte(let value): octets.append(value)
        case .boolean(let value): octets.append(number: value ? 1 : 0)
        case .int32(let value): octets.append(number: UInt32(bitPattern: value))
        case .uint32(let value): octets.append(number: value)
        case .string(let text), .path(let text):
            // Octets 0 are left out: they would end the text early, and the bus would close the connection.
            let text = text.utf8.filter { $0 != 0 }
            octets.append(number: UInt32(truncatingIfNeeded: text.count))
            octets += text + [0]
        case .signature(let text): octets += [UInt8(truncatingIfNeeded: text.utf8.count)] + Array(text.utf8) + [0]
        case .variant(let value):
            BusValue.signature(value.type.code).write(to: &octets)
            value.write(to: &octets)
        case .array(let element, let values):
            let place = octets.count
            octets.append(number: 0)
            octets.pad(to: element.alignment)
            let begin = octets.count
            for value in values { value.write(to: &octets) }
            let length = UInt32(truncatingIfNeeded: octets.count - begin)
            for index in 0..<4 { octets[place + index] = UInt8(truncatingIfNeeded: length >> (8 * index)) }
        case .structure(let members): for member in members { member.write(to: &octets) }
        case .entry(let key, let value):
            key.write(to: &octets)
            value.write(to: &octets)
        }
    }
}

extension [UInt8] {
    fileprivate mutating func pad(to alignment: Int) {
        while !count.isMultiple(of: alignment) { append(0) }
    }

    fileprivate mutating func append(number: UInt32) {
        for index in 0..<4 { append(UInt8(truncatingIfNeeded: number >> (8 * index))) }
    }
}
