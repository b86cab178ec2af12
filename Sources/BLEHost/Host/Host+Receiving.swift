import BLEWire

// Packets from the controller: events, and data of links.
extension Host {
    /// Processes a complete packet.
    ///
    /// Returns `true` if the packet may change what the controller should do next; most packets do not.
    mutating func receiveWhole(_ packet: Span<UInt8>, at now: Instant) -> Bool {
        guard packet.count > 0 else {
            note(.dropped(.truncated(field: "Packet Type"), .transport))
            return false
        }
        if case .idle = phase { return false }
        let type = HCI.PacketType(wire: packet[0]), contents = packet.extracting(droppingFirst: 1)
        switch type {
        case .event: return receiveEvent(contents, at: now)
        case .acl: receiveData(contents, at: now)
        case .synchronous, .iso: break
        default: note(.dropped(.unknown(code: UInt16(type.wire)), .transport))
        }
        return false
    }

    private mutating func receiveData(_ bytes: Span<UInt8>, at now: Instant) {
        guard case .ready = phase else { return }
        var decoder = PacketDecoder(bytes)
        let header: ACLHeader
        do throws(PacketError) { header = try ACLHeader(from: &decoder) } catch {
            return note(.dropped(error, .transport))
        }
        let fragment = decoder.unread, handle = header.handle, length = Int(header.length)
        guard fragment.count == length else {
            let error: PacketError =
                fragment.count < length ? .truncated(field: "Data") : .trailing(count: fragment.count - length)
            return note(.dropped(error, .data(handle)))
        }
        guard let index = links.index(of: handle) else {
            preConnectionData.store(bytes, of: handle, at: now)
            return note(.unknownLink(handle))
        }
        let outcome: Reassembler.OnFragment
        switch header.boundary {
        case .continuing: outcome = links.values[index].reassembler.proceed(fragment)
        case .firstFromController, .firstFromHost:
            if links.values[index].reassembler.isCollecting {
                note(.dropped(.truncated(field: "Information Payload"), .data(handle)))
            }
            outcome = links.values[index].reassembler.begin(fragment)
        }
        switch outcome {
        case .whole: receiveFrame(fragment, on: handle, at: now)
        case .complete(let packet): receiveReassembled(packet, on: handle, at: now)
        case .incomplete: break
        case .dropped(let error): note(.dropped(error, .data(handle)))
        }
    }

    /// Processes a reassembled packet.
    ///
    /// An ATT packet takes the same path as one that arrived in one piece.
    private mutating func receiveReassembled(
        _ packet: consuming [UInt8],
        on handle: ConnectionHandle,
        at now: Instant
    ) {
        let front = ACLHeader.h4Size, length = UInt16(truncatingIfNeeded: packet.count - front)
        var packet = packet
        ACLHeader(handle: handle, boundary: .firstFromController, length: length).begin(&packet)
        guard let attribute = AttributePacket(packet.span) else {
            return receiveFrame(packet.span.extracting(droppingFirst: front), on: handle, at: now)
        }
        receive(attribute, in: packet.span, at: now)
    }

    /// Processes data that arrived before the event that reported their link.
    mutating func receivePreConnectionData(of handle: ConnectionHandle, at now: Instant) {
        guard !preConnectionData.isEmpty else { return }
        for packet in preConnectionData.take(of: handle, at: now) { receiveData(packet.span, at: now) }
    }

    /// Records that a link has ended.
    ///
    /// Data that still arrive with the link's handle are left over from that link, and are ignored.
    mutating func endData(of handle: ConnectionHandle, at now: Instant) { preConnectionData.linkEnded(handle, at: now) }

    private mutating func receiveFrame(_ frame: Span<UInt8>, on handle: ConnectionHandle, at now: Instant) {
        var decoder = PacketDecoder(frame)
        let header: L2CAPHeader
        do throws(PacketError) { header = try L2CAPHeader(from: &decoder) } catch {
            return note(.dropped(error, .data(handle)))
        }
        let payload = decoder.unread
        switch header.channel {
        case .attribute:
            withLayers(at: now) { attributes, _ in attributes.receive(payload, on: handle, at: now) }
        case .leSignaling:
            guard let trust = layers.withAttributes({ $0.trust(of: handle) }) else { return note(.unknownLink(handle)) }
            withLayers(at: now) { _, channels in channels.receiveSignal(payload, on: handle, trust, at: now) }
        case .securityManager: receivePairing(payload, on: handle, at: now)
        case let channel where channel.isDynamic:
            withLayers(at: now) { _, channels in channels.receive(payload, on: channel, of: handle, at: now) }
        default: note(.unknownChannel(header.channel, handle))
        }
    }

    private mutating func receiveEvent(_ bytes: Span<UInt8>, at now: Instant) -> Bool {
        let event: HCIEventPacket
        do throws(PacketError) {
            let isFlow = try HCI.NumberOfCompletedPackets.forEach(in: bytes) { completed($0, at: now) }
            guard !isFlow else { return false }
            event = try HCIEventPacket(decoding: bytes)
        } catch {
            note(.dropped(error, .event))
            return false
        }
        switch event {
        case .commandComplete(let complete):
            let status = complete.status ?? .success
            answered(complete.opcode, status, complete, allowed: complete.allowed, at: now)
        case .commandStatus(let answer):
            answered(answer.opcode, answer.status, nil, allowed: answer.allowed, at: now)
        case .hardwareError(let error):
            note(.hardwareError(error.code))
            recover(at: now)
        default:
            guard case .ready(let controller) = phase else { return false }
            receive(event, from: controller, at: now)
        }
        switch event {
        case .leExtendedAdvertisingReport: return false
        default: return true
        }
    }
}
