/// Takes whole packets of the interface between host and controller apart: what a monitor prints and an explorer
/// shows.
///
/// Nothing is remembered from packet to packet: of an L2CAP packet that comes in several fragments, the header is
/// shown with the first one and the rest as octets.
///
/// Core 6.0, Vol 4, Part A, 2; Part E, 5.4.
package enum HCIPacketDissection {
    /// The layers of a packet that starts with its packet indicator, the outermost first.
    ///
    /// Together they cover `octets` without a gap. What cannot be decoded becomes a layer named "malformed", with the
    /// reason as the name of its only field.
    package static func dissect(h4 octets: [UInt8]) -> [DissectedLayer] {
        guard let first = octets.first else { return [.malformed(octets, PacketError.truncated(field: "Packet Type"))] }
        let packet = octets.dropFirst()
        switch HCI.PacketType(wire: first) {
        case .command: return layers(ofCommand: Array(packet), in: octets)
        case .event: return layers(ofEvent: Array(packet), in: octets)
        case .acl: return layers(ofData: octets)
        case .synchronous, .iso: return [raw(octets, type: HCI.PacketType(wire: first))]
        default: return [.malformed(octets, PacketError.unknown(code: UInt16(first)))]
        }
    }

    private static func layers(ofCommand packet: [UInt8], in octets: [UInt8]) -> [DissectedLayer] {
        do throws(PacketError) { return [try HCICommandPacket(decoding: packet).dissection] } catch {
            return header(CommandStart.self, of: octets, error) { "HCI Command \($0.opcode)" }
        }
    }

    private static func layers(ofEvent packet: [UInt8], in octets: [UInt8]) -> [DissectedLayer] {
        do throws(PacketError) { return [try HCIEventPacket(decoding: packet).dissection] } catch {
            return header(EventStart.self, of: octets, error) { "HCI Event \($0.code)" }
        }
    }

    private static func layers(ofData octets: [UInt8]) -> [DissectedLayer] {
        let start: DataStart
        do throws(PacketError) {
            var decoder = PacketDecoder(octets.span)
            start = try DataStart(from: &decoder)
            try decoder.expect(Int(start.header.length), "Data Total Length")
        } catch { return [.malformed(octets, error)] }
        let outer = DissectedLayer(name: "ACL Data", fields: start.dissected)
        let payload = Array(octets[outer.size...])
        switch start.header.boundary {
        case .continuing: return [outer] + fragment(payload)
        case .firstFromHost, .firstFromController: return [outer] + layers(ofFrame: payload)
        }
    }

    private static func layers(ofFrame octets: [UInt8]) -> [DissectedLayer] {
        guard octets.count >= L2CAPHeader.size,
            let header = try? L2CAPHeader(decoding: Array(octets[..<L2CAPHeader.size]))
        else { return fragment(octets) }
        let payload = Array(octets[L2CAPHeader.size...])
        if payload.count < Int(header.length) { return [header.dissection] + fragment(payload) }
        if payload.count > Int(header.length) {
            let excess = PacketError.trailing(count: payload.count - Int(header.length))
            return [header.dissection, .malformed(payload, excess)]
        }
        return [header.dissection] + layers(of: payload, on: header.channel)
    }

    private static func layers(of payload: [UInt8], on channel: ChannelIdentifier) -> [DissectedLayer] {
        do throws(PacketError) {
            switch channel {
            case .attribute: return [try ATTPacket(decoding: payload).dissection]
            case .leSignaling: return [try SignalPacket(decoding: payload).dissection]
            case .securityManager: return [try SMPPacket(decoding: payload).dissection]
            default: return plain(payload, layer: "L2CAP Payload")
            }
        } catch { return [.malformed(payload, error)] }
    }

    private static func fragment(_ octets: [UInt8]) -> [DissectedLayer] { plain(octets, layer: "L2CAP Fragment") }

    private static func plain(_ octets: [UInt8], layer name: String) -> [DissectedLayer] {
        if octets.isEmpty { return [] }
        let field = PacketDissector.Field(name: "Data", range: 0..<octets.count, text: octets.hexadecimal)
        return [DissectedLayer(name: name, fields: [field])]
    }

    private static func raw(_ octets: [UInt8], type: HCI.PacketType) -> DissectedLayer {
        let fields = [
            PacketDissector.Field(name: "Packet Type", range: 0..<1, text: type.description),
            PacketDissector.Field(name: "Data", range: 1..<octets.count, text: octets.dropFirst().hexadecimal),
        ]
        return DissectedLayer(name: type.description, fields: fields)
    }

    /// As much of a header as is there, and what follows it as malformed.
    private static func header<Start: Packet>(
        _: Start.Type,
        of octets: [UInt8],
        _ error: PacketError,
        name: (Start) -> String
    ) -> [DissectedLayer] {
        var decoder = PacketDecoder(octets.span)
        guard let start = try? Start(from: &decoder) else { return [.malformed(octets, error)] }
        let layer = DissectedLayer(name: name(start), fields: start.dissected)
        return [layer, .malformed(octets[layer.size...], error)]
    }
}

/// What a command starts with, its length apart.
private struct CommandStart: Packet {
    var type = HCI.PacketType.command
    var opcode = HCI.Opcode.none

    mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        try wire.field(&type, "Packet Type")
        try wire.field(&opcode, "Opcode")
    }
}

/// What an event starts with, its length apart.
private struct EventStart: Packet {
    var type = HCI.PacketType.event
    var code = HCI.EventCode(wire: 0)

    mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        try wire.field(&type, "Packet Type")
        try wire.field(&code, "Event Code")
    }
}

/// What a data packet starts with.
private struct DataStart: Packet {
    var type = HCI.PacketType.acl
    var header = ACLHeader()

    mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        try wire.field(&type, "Packet Type")
        try wire.nested(&header)
    }
}
