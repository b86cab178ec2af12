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

    /// Octets that are no packet, and why.
    package static func malformed(_ octets: some Collection<UInt8>, _ reason: some CustomStringConvertible) -> Self {
        let field = PacketDissector.Field(
            name: reason.description,
            range: 0..<octets.count,
            text: octets.hexadecimal
        )
        return Self(name: "malformed", fields: [field])
    }
}

extension PacketDissector.Field {
    /// This field in a layer where `offset` octets precede it.
    func shifted(by offset: Int) -> Self {
        Self(name: name, range: (range.lowerBound + offset)..<(range.upperBound + offset), text: text)
    }
}
