/// A decoder for all packets between one host and its controller, for monitors that show them.
///
/// It stores the information from earlier packets that is needed to decode later packets: the first fragments of L2CAP
/// packets, and the services of credit-based channels. A trace may start at any time; packets for which that
/// information is missing are shown as octets.
///
/// Core 6.0, Vol 4, Part A, 2; Part E, 5.4.
package struct HCITrace: Sendable {
    /// The maximum number of stored links; beyond that, the oldest one is dropped.
    private static let mostLinks = 16

    private struct Link: Sendable {
        let handle: ConnectionHandle
        var fromHost = Reassembler()
        var fromPeer = Reassembler()
        var channels = ChannelTrace()
    }

    private var links: [Link] = []

    package init() {}

    /// Decodes the layers of a packet that starts with its packet indicator.
    ///
    /// - Parameters:
    ///   - octets: The packet, or its beginning if the capture cut it short.
    ///   - isFromHost: True if the host sent the packet, false if the controller did.
    ///   - missing: The number of octets at the end of the packet that the capture does not contain.
    /// - Returns: The layers and codes of the packet.
    package mutating func dissect(h4 octets: [UInt8], isFromHost: Bool, missing: Int = 0) -> DissectedPacket {
        var packet = DissectedPacket()
        guard missing <= 0 else {
            dissect(beginning: octets, isFromHost: isFromHost, missing: missing, &packet)
            return packet
        }
        guard let first = octets.first else {
            packet.layers = [.malformed(octets, PacketError.truncated(field: "Packet Type"))]
            return packet
        }
        let type = HCI.PacketType(wire: first)
        packet.codes.type = type
        switch type {
        case .command: command(octets, &packet)
        case .event: event(octets, &packet)
        case .acl: data(octets, isFromHost: isFromHost, &packet)
        case .synchronous, .iso: packet.layers = [Self.raw(octets, type)]
        default: packet.layers = [.malformed(octets, PacketError.unknown(code: UInt16(first)))]
        }
        return packet
    }

    /// Decodes a packet that the capture cut short: its headers as fields, and the rest as octets.
    private mutating func dissect(
        beginning octets: [UInt8],
        isFromHost: Bool,
        missing: Int,
        _ packet: inout DissectedPacket
    ) {
        packet.codes.type = octets.first.map(HCI.PacketType.init)
        var decoder = PacketDecoder(octets.span)
        switch packet.codes.type {
        case .command:
            guard let start = try? CommandStart(from: &decoder) else { break }
            packet.codes.opcode = start.opcode
            packet.layers = [DissectedLayer(name: "HCI Command \(start.opcode)", fields: start.dissected)]
            if start.opcode == .reset { links = [] }
        case .event:
            guard let start = try? EventStart(from: &decoder) else { break }
            packet.codes.event = start.code
            packet.layers = [DissectedLayer(name: "HCI Event \(start.code)", fields: start.dissected)]
            if start.code == .leMeta, octets.count > 3 { packet.codes.subevent = HCI.LESubevent(wire: octets[3]) }
        case .acl:
            guard let start = try? DataStart(from: &decoder) else { break }
            packet.codes.handles = [start.header.handle.wire]
            packet.layers = [DissectedLayer(name: "ACL Data", fields: start.dissected)]
            lose(Array(octets[packet.layers[0].size...]), of: start.header, isFromHost, &packet)
        default: break
        }
        packet.layers.append(.cut(octets[packet.layers.reduce(0) { $0 + $1.size }...], missing: missing))
    }

    /// Decodes the beginning of the payload of a data packet that the capture cut short.
    ///
    /// The packet and the SDU that were being reassembled can no longer be completed, so they are dropped.
    private mutating func lose(
        _ payload: [UInt8],
        of acl: ACLHeader,
        _ isFromHost: Bool,
        _ packet: inout DissectedPacket
    ) {
        let link = index(of: acl.handle)
        if isFromHost { links[link].fromHost = Reassembler() } else { links[link].fromPeer = Reassembler() }
        guard acl.boundary != .continuing, payload.count >= L2CAPHeader.size,
            let header = try? L2CAPHeader(decoding: Array(payload[..<L2CAPHeader.size]))
        else { return links[link].channels.forget(nil, isFromHost: isFromHost) }
        links[link].channels.forget(header.channel, isFromHost: isFromHost)
        packet.layers.append(header.dissection)
        let first = payload.dropFirst(L2CAPHeader.size).first
        switch header.channel {
        case .attribute: packet.codes.attribute = first.map(ATT.Opcode.init)
        case .leSignaling: packet.codes.signal = first.map(Signal.Code.init)
        case .securityManager: packet.codes.security = first.map(SMP.Opcode.init)
        default: break
        }
    }

    private mutating func command(_ octets: [UInt8], _ packet: inout DissectedPacket) {
        var decoder = PacketDecoder(octets.span)
        let start = try? CommandStart(from: &decoder)
        packet.codes.opcode = start?.opcode
        do throws(PacketError) {
            packet.layers = [try HCICommandPacket(decoding: Array(octets.dropFirst())).dissection]
            packet.codes.handles = packet.layers.connectionHandles(in: octets)
        } catch {
            packet.layers = Self.beginning(start, of: octets, error) { "HCI Command \($0.opcode)" }
        }
        if start?.opcode == .reset { links = [] }
    }

    private mutating func event(_ octets: [UInt8], _ packet: inout DissectedPacket) {
        var decoder = PacketDecoder(octets.span)
        let start = try? EventStart(from: &decoder)
        packet.codes.event = start?.code
        do throws(PacketError) {
            let event = try HCIEventPacket(decoding: Array(octets.dropFirst()))
            packet.layers = [event.dissection]
            packet.codes.subevent = event.subevent
            packet.codes.opcode = packet.layers.numbers(of: "Command Opcode", in: octets).first.map(HCI.Opcode.init)
            packet.codes.handles = packet.layers.connectionHandles(in: octets)
            updateLinks(after: event)
        } catch {
            if start?.code == .leMeta, octets.count > 3 { packet.codes.subevent = HCI.LESubevent(wire: octets[3]) }
            packet.layers = Self.beginning(start, of: octets, error) { "HCI Event \($0.code)" }
        }
    }

    /// Drops the state of a link that has ended, or whose handle is used again for a new link.
    private mutating func updateLinks(after event: HCIEventPacket) {
        switch event {
        case .disconnectionComplete(let event) where event.status == .success:
            links.removeAll { $0.handle == event.handle }
        case .leConnectionComplete(let event): links.removeAll { $0.handle == event.handle }
        case .leEnhancedConnectionComplete(let event): links.removeAll { $0.handle == event.handle }
        default: break
        }
    }

    private mutating func data(_ octets: [UInt8], isFromHost: Bool, _ packet: inout DissectedPacket) {
        let start: DataStart
        do throws(PacketError) {
            var decoder = PacketDecoder(octets.span)
            start = try DataStart(from: &decoder)
            packet.codes.handles = [start.header.handle.wire]
            try decoder.expect(Int(start.header.length), "Data Total Length")
        } catch {
            packet.layers = [.malformed(octets, error)]
            return
        }
        let outer = DissectedLayer(name: "ACL Data", fields: start.dissected)
        let payload = Array(octets[outer.size...]), link = index(of: start.header.handle)
        packet.layers = [outer]
        switch start.header.boundary {
        case .continuing:
            packet.layers += .plain(payload, layer: "L2CAP Fragment")
            guard case .complete(let frame) = proceed(payload, link, isFromHost) else { return }
            dissect(frame: frame, link, isFromHost, isReassembled: true, &packet)
        case .firstFromHost, .firstFromController:
            begin(payload, link, isFromHost)
            dissect(frame: payload, link, isFromHost, isReassembled: false, &packet)
        }
    }

    private mutating func index(of handle: ConnectionHandle) -> Int {
        if let index = links.firstIndex(where: { $0.handle == handle }) { return index }
        if links.count == Self.mostLinks { links.removeFirst() }
        links.append(Link(handle: handle))
        return links.count - 1
    }

    private mutating func begin(_ fragment: [UInt8], _ link: Int, _ isFromHost: Bool) {
        if isFromHost {
            _ = links[link].fromHost.begin(fragment.span)
        } else {
            _ = links[link].fromPeer.begin(fragment.span)
        }
    }

    private mutating func proceed(_ fragment: [UInt8], _ link: Int, _ isFromHost: Bool) -> Reassembler.OnFragment {
        isFromHost ? links[link].fromHost.proceed(fragment.span) : links[link].fromPeer.proceed(fragment.span)
    }

    /// Decodes an L2CAP packet, or its first fragment if the packet is not complete yet.
    ///
    /// `isReassembled` is true for a packet that was reassembled from several fragments. Its layers are added to
    /// ``DissectedPacket/completed`` instead of ``DissectedPacket/layers``.
    private mutating func dissect(
        frame: [UInt8],
        _ link: Int,
        _ isFromHost: Bool,
        isReassembled: Bool,
        _ packet: inout DissectedPacket
    ) {
        var layers: [DissectedLayer] = []
        defer {
            if isReassembled { packet.completed = layers + packet.completed } else { packet.layers += layers }
        }
        guard frame.count >= L2CAPHeader.size,
            let header = try? L2CAPHeader(decoding: Array(frame[..<L2CAPHeader.size]))
        else {
            layers = .plain(frame, layer: "L2CAP Fragment")
            return
        }
        layers = [header.dissection]
        let payload = Array(frame[L2CAPHeader.size...]), excess = payload.count - Int(header.length)
        if excess < 0 {
            layers += .plain(payload, layer: "L2CAP Fragment")
        } else if excess > 0 {
            layers.append(.malformed(payload, PacketError.trailing(count: excess)))
        } else {
            layers += self.layers(of: payload, on: header.channel, link, isFromHost, &packet)
        }
    }

    private mutating func layers(
        of payload: [UInt8],
        on channel: ChannelIdentifier,
        _ link: Int,
        _ isFromHost: Bool,
        _ packet: inout DissectedPacket
    ) -> [DissectedLayer] {
        do throws(PacketError) {
            switch channel {
            case .attribute: return try Self.attributeLayers(of: payload, &packet.codes)
            case .leSignaling:
                packet.codes.signal = payload.first.map(Signal.Code.init)
                let signal = try SignalPacket(decoding: payload)
                links[link].channels.learn(signal, isFromHost: isFromHost)
                return [signal.dissection]
            case .securityManager:
                packet.codes.security = payload.first.map(SMP.Opcode.init)
                return [try SMPPacket(decoding: payload).dissection]
            default: break
            }
            switch links[link].channels.receive(payload, on: channel, isFromHost: isFromHost) {
            case .unknown: return .plain(payload, layer: "L2CAP Payload")
            case .malformed(let error): throw error
            case .part(let header):
                let data = Array(payload.dropFirst(header?.size ?? 0))
                return (header.map { [$0] } ?? []) + .plain(data, layer: "SDU Segment")
            case .whole(let header, let data, isAttribute: true):
                return [header] + (try Self.attributeLayers(of: data, &packet.codes))
            case .whole(let header, let data, isAttribute: false): return [header] + .plain(data, layer: "SDU")
            case .last(let data, let isAttribute):
                packet.completed =
                    isAttribute ? try Self.attributeLayers(of: data, &packet.codes) : .plain(data, layer: "SDU")
                return .plain(payload, layer: "SDU Segment")
            }
        } catch { return [.malformed(payload, error)] }
    }

    private static func attributeLayers(
        of octets: [UInt8],
        _ codes: inout DissectedPacket.Codes
    ) throws(PacketError) -> [DissectedLayer] {
        codes.attribute = octets.first.map(ATT.Opcode.init)
        return [try ATTPacket(decoding: octets).dissection]
    }

    private static func raw(_ octets: [UInt8], _ type: HCI.PacketType) -> DissectedLayer {
        let fields = [
            PacketDissector.Field(name: "Packet Type", range: 0..<1, text: type.description),
            PacketDissector.Field(name: "Data", range: 1..<octets.count, text: octets.dropFirst().hexadecimal),
        ]
        return DissectedLayer(name: type.description, fields: fields)
    }

    /// Returns the layers of a packet that cannot be decoded: its header, if that could be decoded, and the rest as
    /// malformed octets.
    private static func beginning<Start: Packet>(
        _ start: Start?,
        of octets: [UInt8],
        _ error: PacketError,
        name: (Start) -> String
    ) -> [DissectedLayer] {
        guard let start else { return [.malformed(octets, error)] }
        let layer = DissectedLayer(name: name(start), fields: start.dissected)
        return [layer, .malformed(octets[layer.size...], error)]
    }
}

/// The start of an H4 command: the packet type and the opcode, without the length.
private struct CommandStart: Packet {
    var type = HCI.PacketType.command
    var opcode = HCI.Opcode.none

    mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        try wire.field(&type, "Packet Type")
        try wire.field(&opcode, "Opcode")
    }
}

/// The start of an H4 event: the packet type and the event code, without the length.
private struct EventStart: Packet {
    var type = HCI.PacketType.event
    var code = HCI.EventCode(wire: 0)

    mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        try wire.field(&type, "Packet Type")
        try wire.field(&code, "Event Code")
    }
}

/// The start of an H4 data packet: the packet type and the ACL header.
private struct DataStart: Packet {
    var type = HCI.PacketType.acl
    var header = ACLHeader()

    mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        try wire.field(&type, "Packet Type")
        try wire.nested(&header)
    }
}
