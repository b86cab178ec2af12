import BLERuntime
import BLEWire

extension TimelineBuilder {
    /// Adds events about the content of a packet to tracks other than HCI.
    ///
    /// `place` is the index of the packet's own event.
    mutating func describe(
        _ record: PacketRecord,
        _ packet: DissectedPacket,
        _ place: Int,
        _ source: Int,
        _ isFromHost: Bool
    ) {
        switch packet.codes.type {
        case .command:
            guard let opcode = packet.codes.opcode else { return }
            relations.commanded(opcode.wire, source: source, group: place + 1)
            timeline.events[place].group = place + 1
            if opcode == .reset { timeline.events[place].fact = .reset }
        case .event:
            if packet.codes.event == .commandComplete || packet.codes.event == .commandStatus,
                let opcode = packet.codes.opcode
            {
                timeline.events[place].group = relations.answered(opcode.wire, source: source)
            }
            guard record.missing == 0, let event = try? HCIEventPacket(decoding: Array(record.bytes.dropFirst())) else {
                return
            }
            describe(event, place, source)
        case .acl:
            guard record.missing == 0, let frame = frames.add(record.bytes, source, isFromHost) else { return }
            switch frame.channel {
            case 4: attribute(frame.payload, frame.link, place, source, isFromHost)
            case 6: security(packet, frame.payload, place, source, isFromHost)
            default: channel(packet, frame.channel, frame.payload.count, place, source, isFromHost)
            }
        default: break
        }
    }

    /// Adds an event about the packet at the index `place` to another track; returns the new event's index, or `nil` if
    /// there is no room.
    @discardableResult
    private mutating func about(
        _ place: Int,
        _ track: Timeline.Track,
        _ title: String,
        _ detail: String,
        _ fact: Timeline.Fact = .none,
        level: Timeline.Level = .normal,
        group: Int = 0
    ) -> Int? {
        var event = timeline.events[place]
        (event.octets, event.layers) = ([], [])
        (event.track, event.title, event.detail, event.fact, event.level) = (track, title, detail, fact, level)
        event.packet = place
        event.group = group == 0 ? place + 1 : group
        timeline.events[place].group = event.group
        return append(event)
    }

    // HCI events.

    /// Adds events about the effect of an HCI event on links and encryption, and points about signal strength.
    ///
    /// `place` is the index of the HCI event in the timeline.
    private mutating func describe(_ event: HCIEventPacket, _ place: Int, _ source: Int) {
        switch event {
        case .leConnectionComplete(let event):
            connected(event.status, event.handle.wire, "\(event.peer)", event.role, place, source)
        case .leEnhancedConnectionComplete(let event):
            connected(event.status, event.handle.wire, "\(event.peer)", event.role, place, source)
        case .disconnectionComplete(let event) where event.status == .success:
            let isPlanned = [.connectionTerminatedByLocalHost, .remoteUserTerminatedConnection].contains(event.reason)
            about(
                place,
                .link,
                "Disconnected",
                "\(event.reason)",
                .disconnected(link: event.handle.wire, event.reason),
                level: isPlanned ? .normal : .failure,
                group: relations.group(ofCall: "cancelPeripheralConnection", source: source)
            )
            for isFromHost in [true, false] {
                relations.requests[.init(source: source, link: event.handle.wire, isFromHost: isFromHost)] = nil
            }
            attributes.forget(event.handle.wire, of: source)
        case .leConnectionUpdateComplete(let event):
            about(place, .link, "Connection parameters", "\(event.interval), \(event.status)")
        case .leDataLengthChange, .lePHYUpdateComplete, .leReadRemoteFeaturesComplete:
            about(place, .link, timeline.events[place].title, "")
        case .encryptionChange(let event): encrypted(event.status, event.handle.wire, place)
        case .encryptionChangeV2(let event): encrypted(event.status, event.handle.wire, place)
        case .encryptionKeyRefreshComplete(let event): encrypted(event.status, event.handle.wire, place)
        case .hardwareError: timeline.events[place].fact = .hardwareError
        case .leAdvertisingReport(let event):
            for report in event.reports.prefix(25) {
                addAdvertisement("\(report.address)", Int8(bitPattern: report.rssi.wire), place, source)
            }
        case .leExtendedAdvertisingReport(let event):
            for report in event.reports.prefix(25) {
                addAdvertisement("\(report.address)", Int8(bitPattern: report.rssi.wire), place, source)
            }
        default: break
        }
    }

    private mutating func addAdvertisement(_ address: String, _ rssi: Int8, _ place: Int, _ source: Int) {
        timeline.events[place].fact = .advertisement(address: address)
        guard rssi < 20 else { return }
        let name = "RSSI of \(address) at \(timeline.sources[source])"
        sample(name, unit: "dBm", Double(rssi), at: Instant(nanoseconds: timeline.events[place].time))
    }

    private mutating func connected(
        _ status: HCI.Status,
        _ link: UInt16,
        _ peer: String,
        _ role: HCI.Role,
        _ place: Int,
        _ source: Int
    ) {
        let group = relations.group(ofCall: "connect", source: source)
        guard status == .success else {
            let isCancelled = status == .unknownConnectionIdentifier
            about(
                place,
                .link,
                "Not connected",
                "\(status)",
                isCancelled ? .none : .connectionFailed(status),
                level: isCancelled ? .normal : .failure,
                group: group
            )
            return
        }
        let fact = Timeline.Fact.connected(link: link, peer: peer, isCentral: role == .central)
        about(place, .link, "Connected", "to \(peer), handle \(link)", fact, group: group)
    }

    private mutating func encrypted(_ status: HCI.Status, _ link: UInt16, _ place: Int) {
        about(
            place,
            .security,
            status == .success ? "Encrypted" : "Not encrypted",
            status == .success ? "" : "\(status)",
            .encryption(link: link, status),
            level: status == .success ? .normal : .failure
        )
    }

    // L2CAP.

    private mutating func security(
        _ packet: DissectedPacket,
        _ payload: [UInt8],
        _ place: Int,
        _ source: Int,
        _ isFromHost: Bool
    ) {
        let name = (packet.completed + packet.layers).last { $0.name.hasPrefix("SMP") }?.name ?? "Pairing packet"
        var fact = Timeline.Fact.none, detail = isFromHost ? "sent" : "received"
        if payload.first == 0x05, payload.count >= 2 {
            fact = .pairingFailed(payload[1], isFromHost: isFromHost)
            detail += ": \(SMP.Reason(wire: payload[1]))"
        } else if payload.first == 0x01 {
            fact = .pairingStarted
        }
        about(place, .security, name, detail, fact, level: payload.first == 0x05 ? .failure : .normal)
    }

    private mutating func channel(
        _ packet: DissectedPacket,
        _ channel: UInt16,
        _ count: Int,
        _ place: Int,
        _ source: Int,
        _ isFromHost: Bool
    ) {
        let layers = packet.layers + packet.completed
        let detail = "\(isFromHost ? "sent" : "received") on channel \(channel), \(count.withNoun("octet"))"
        if let layer = layers.last(where: { $0.name.hasPrefix("ATT") }) {
            about(place, .attribute, String(layer.name.dropFirst(4)), detail)
        } else {
            about(place, .channel, layers.last { !$0.isMalformed }?.name ?? "Data", detail)
        }
    }

    // ATT.

    private mutating func attribute(
        _ payload: [UInt8],
        _ link: UInt16,
        _ place: Int,
        _ source: Int,
        _ isFromHost: Bool
    ) {
        guard let first = payload.first, let packet = try? ATTPacket(decoding: payload) else {
            about(place, .attribute, "Malformed ATT packet", isFromHost ? "sent" : "received", level: .warning)
            return
        }
        let opcode = ATT.Opcode(wire: first)
        let stream = LinkFrames.Stream(source: source, link: link, isFromHost: isFromHost)
        let role = AttributeNames.Role(of: opcode, on: stream), server = role.server, asks = role.part == .request
        var group = 0, fact = Timeline.Fact.none, requested: UInt16?
        if asks || opcode.isCommand {
            let isOwn = isFromHost && role.isFromClient
            group = isOwn ? relations.group(of: opcode, source: source, fresh: place + 1) : place + 1
            if asks { fact = .request(opcode, handle: packet.handle ?? 0, link: link, isFromHost: isFromHost) }
        } else if role.part == .response {
            let request = answer(packet, stream, server)
            (group, requested) = (request?.group ?? 0, request?.handle)
            fact = Self.fact(ofAnswer: packet, stream)
        }
        let isFailure = if case .errorResponse(let error) = packet { error.code != .attributeNotFound } else { false }
        let event = about(
            place,
            .attribute,
            opcode.description,
            words(packet, server, requested, isFromHost),
            fact,
            level: isFailure ? .failure : .normal,
            group: group
        )
        if asks, let event {
            relations.requests[stream] = .init(
                group: timeline.events[event].group,
                handle: packet.handle,
                type: packet.searchedType
            )
        }
    }

    /// Removes and returns the open request that a packet answers, and learns attribute types from the packet.
    ///
    /// Returns `nil` if the request is unknown.
    private mutating func answer(
        _ packet: ATTPacket,
        _ stream: LinkFrames.Stream,
        _ server: AttributeNames.Server
    ) -> Relations.Request? {
        let request = relations.requests.removeValue(forKey: stream.reversed)
        attributes.learn(packet, from: server, asked: request?.type)
        return request
    }

    private static func fact(ofAnswer packet: ATTPacket, _ stream: LinkFrames.Stream) -> Timeline.Fact {
        guard case .errorResponse(let error) = packet else {
            return .response(link: stream.link, isFromHost: stream.isFromHost)
        }
        return .refusal(
            of: error.request,
            handle: error.handle.wire,
            error.code,
            link: stream.link,
            isFromHost: stream.isFromHost
        )
    }

    /// Returns readable text about a packet's attribute or, if the packet has none, its direction.
    ///
    /// `requested` is the handle in the request that the packet answers; `nil` if there is none.
    private func words(
        _ packet: ATTPacket,
        _ server: AttributeNames.Server,
        _ requested: UInt16?,
        _ isFromHost: Bool
    ) -> String {
        let words = attributes.words(packet, of: server, requested: requested)
        return words.isEmpty ? (isFromHost ? "sent" : "received") : words
    }
}
