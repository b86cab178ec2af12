/// One layer of a decoded packet: its name, and its fields with their octet ranges.
///
/// A monitor prints one line for each layer. The ranges are relative to the first octet of the layer, not to that of
/// the packet.
package struct DissectedLayer: Equatable, Sendable {
    /// The protocol and packet name, such as "ATT Write Request".
    package let name: String
    /// The fields in wire order.
    ///
    /// Together they cover all octets of the layer.
    package let fields: [PacketDissector.Field]

    package init(name: String, fields: [PacketDissector.Field]) {
        self.name = name
        self.fields = fields
    }

    /// The number of octets in this layer.
    package var size: Int { fields.last?.range.upperBound ?? 0 }

    private static let malformedName = "malformed"
    private static let cutName = "cut"

    /// Creates a layer for octets that could not be decoded, for the given reason.
    package static func malformed(_ octets: some Collection<UInt8>, _ reason: some CustomStringConvertible) -> Self {
        let field = PacketDissector.Field(
            name: reason.description,
            range: 0..<octets.count,
            text: octets.hexadecimal
        )
        return Self(name: malformedName, fields: [field])
    }

    /// Creates a layer for a packet that the capture cut short: `octets` are in the capture, and `missing` octets after
    /// them are not.
    static func cut(_ octets: some Collection<UInt8>, missing: Int) -> Self {
        let name = missing == 1 ? "1 more octet is not in the capture" : "\(missing) more octets are not in the capture"
        let field = PacketDissector.Field(name: name, range: 0..<octets.count, text: octets.hexadecimal)
        return Self(name: cutName, fields: [field])
    }
}

extension PacketDissector.Field {
    /// Returns this field with its text replaced by `text`.
    package func replacing(text: String) -> Self { Self(name: name, range: range, text: text) }

    /// Returns this field with its range moved by `offset` octets.
    func shifted(by offset: Int) -> Self {
        Self(name: name, range: (range.lowerBound + offset)..<(range.upperBound + offset), text: text)
    }
}

extension DissectedLayer {
    /// True if this layer holds octets that could not be decoded.
    package var isMalformed: Bool { name == Self.malformedName }

    /// True if this layer holds octets of a packet that the capture cut short.
    package var isCut: Bool { name == Self.cutName }
}

extension [DissectedLayer] {
    /// Returns one layer for octets that are not decoded further, or no layer if `octets` is empty.
    static func plain(_ octets: [UInt8], layer name: String) -> Self {
        if octets.isEmpty { return [] }
        let field = PacketDissector.Field(name: "Data", range: 0..<octets.count, text: octets.hexadecimal)
        return [DissectedLayer(name: name, fields: [field])]
    }

    /// Returns the values of all two-octet fields with this name; `octets` are the octets of all layers of the array.
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

    /// Returns the connection handles in a command or event.
    func connectionHandles(in octets: [UInt8]) -> [UInt16] { numbers(of: "Connection Handle", in: octets) }
}

/// A decoded HCI packet with all its layers.
package struct DissectedPacket: Equatable, Sendable {
    /// The layers of the packet, outermost first.
    ///
    /// Together they cover all octets of the packet.
    ///
    /// A part that cannot be decoded is a layer named "malformed", and the name of the layer's only field is the
    /// reason. If the capture cut the packet short, the last layer is named "cut".
    package var layers: [DissectedLayer] = []
    /// The layers of the L2CAP packet or SDU that this packet completes, reassembled from all of its parts; empty if
    /// this packet completes none.
    package var completed: [DissectedLayer] = []
    /// The codes in the packet, for filters.
    package var codes = Codes()

    /// True if a part of the packet could not be decoded.
    package var isMalformed: Bool { (layers + completed).contains { $0.isMalformed } }

    /// True if the capture contains only the beginning of the packet.
    package var isCut: Bool { layers.contains { $0.isCut } }

    /// The codes that identify the kind of a packet; a code is `nil` if the packet does not have it.
    package struct Codes: Equatable, Sendable {
        package var type: HCI.PacketType?
        /// The opcode of the command, or of the command that an event responds to.
        package var opcode: HCI.Opcode?
        package var event: HCI.EventCode?
        package var subevent: HCI.LESubevent?
        /// The connection handles in the packet, in order.
        package var handles: [UInt16] = []
        package var attribute: ATT.Opcode?
        package var security: SMP.Opcode?
        package var signal: Signal.Code?
    }
}
