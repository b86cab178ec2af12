/// A visitor that describes a packet field by field, with octet ranges, for monitors and hex dumps.
package struct PacketDissector: Wire {
    package struct Field: Equatable, Sendable {
        package let name: String
        package let range: Range<Int>
        package let text: String
    }

    package private(set) var fields: [Field] = []
    private var offset = 0

    package init() {}

    private mutating func append(_ name: StaticString, size: Int, _ text: String) {
        fields.append(Field(name: "\(name)", range: offset..<(offset + size), text: text))
        offset += size
    }

    package mutating func integer<T: WireInteger>(
        _ value: inout T,
        _ name: StaticString
    ) throws(PacketError) {
        append(name, size: T.bitWidth / 8, "0x" + String(value, radix: 16))
    }

    package mutating func narrow(_ value: inout UInt64, octets: Int, _ name: StaticString) throws(PacketError) {
        append(name, size: octets, "0x" + String(value, radix: 16))
    }

    package mutating func field<F: WireField>(_ value: inout F, _ name: StaticString) throws(PacketError) {
        let text = (value as? any CustomStringConvertible)?.description ?? "0x" + String(value.wire, radix: 16)
        append(name, size: F.Raw.bitWidth / 8, text)
    }

    package mutating func address(_ value: inout DeviceAddress, _ name: StaticString) throws(PacketError) {
        append(name, size: 6, value.description)
    }

    package mutating func bytes(_ value: inout [UInt8], count: Int, _ name: StaticString) throws(PacketError) {
        append(name, size: value.count, value.hexadecimal)
    }

    package mutating func rest(_ value: inout [UInt8], _ name: StaticString) throws(PacketError) {
        append(name, size: value.count, value.hexadecimal)
    }

    package mutating func annotate(_ text: @autoclosure () -> String) {
        guard let last = fields.popLast() else { return }
        fields.append(Field(name: last.name, range: last.range, text: text()))
    }
}

extension Packet {
    /// The fields of this packet in wire order.
    package var dissected: [PacketDissector.Field] {
        var dissector = PacketDissector(), copy = self
        do { try copy.layout(&dissector) } catch { preconditionFailure("cannot dissect \(self): \(error)") }
        return dissector.fields
    }
}

extension Sequence<UInt8> {
    /// The octets as text: two lowercase hex digits per octet, in wire order.
    package var hexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        for octet in self {
            text.append(digits[Int(octet >> 4)])
            text.append(digits[Int(octet & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }
}
