/// One layer of a packet that was taken apart: its name, and its fields with the octets that each one takes.
///
/// What a monitor prints a line for and an explorer draws a box around. The ranges count from the first octet of the
/// layer, not of the packet that carries it.
package struct DissectedLayer: Equatable, Sendable {
    /// The protocol and the packet in it, such as "ATT Write Request".
    package let name: String
    /// The fields in wire order; together they cover the octets of the layer without a gap.
    package let fields: [PacketDissector.Field]

    package init(name: String, fields: [PacketDissector.Field]) {
        self.name = name
        self.fields = fields
    }

    /// How many octets this layer takes.
    package var size: Int { fields.last?.range.upperBound ?? 0 }

    private static let malformedName = "malformed"

    /// Octets that are no packet, and why.
    package static func malformed(_ octets: some Collection<UInt8>, _ reason: some CustomStringConvertible) -> Self {
        let field = PacketDissector.Field(
            name: reason.description,
            range: 0..<octets.count,
            text: octets.hexadecimal
        )
        return Self(name: malformedName, fields: [field])
    }
}

extension PacketDissector.Field {
    /// This field in a layer where `offset` octets precede it.
    func shifted(by offset: Int) -> Self {
        Self(name: name, range: (range.lowerBound + offset)..<(range.upperBound + offset), text: text)
    }
}

extension DissectedLayer {
    /// Whether this stands for octets that are no packet.
    package var isMalformed: Bool { name == Self.malformedName }
}

extension [DissectedLayer] {
    /// Octets that are not looked into; no layer if there are none.
    static func plain(_ octets: [UInt8], layer name: String) -> Self {
        if octets.isEmpty { return [] }
        let field = PacketDissector.Field(name: "Data", range: 0..<octets.count, text: octets.hexadecimal)
        return [DissectedLayer(name: name, fields: [field])]
    }

    /// The values of all fields of two octets that have this name, where `octets` are those of the layers.
    func numbers(of name: String, in octets: [UInt8]) -> [UInt16] {
        var numbers: [UInt16] = [], start = 0
        for layer in self {
            for field in layer.fields where field.name == name && field.range.count == 2 {
                let low = start + field.range.lowerBound
                if low + 1 < octets.count { numbers.append(UInt16(octets[low]) | UInt16(octets[low + 1]) << 8) }
            }
            start += layer.size
        }
        return numbers
    }

    /// The connections that the fields of a command or an event name.
    func connectionHandles(in octets: [UInt8]) -> [UInt16] { numbers(of: "Connection Handle", in: octets) }
}
