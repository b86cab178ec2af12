import BLEHost
import BLERuntime
import BLEWire

extension SignalVictim {
    /// Creates a link to the device with this address, and completes the MTU exchange.
    func connect(_ link: ConnectionHandle, _ address: DeviceAddress) {
        if role == .central {
            guard let peer = identify(address) else { return check(false, "does not find a peer") }
            host.perform(.connect(peer, ConnectRequest()), for: Self.central, at: now)
            drain()
        }
        inject(
            .leConnectionComplete(
                .init(
                    status: .success,
                    handle: link,
                    role: role,
                    peer: address,
                    interval: .init(wire: 24),
                    latency: .init(wire: 0),
                    timeout: .init(wire: 200)
                )
            )
        )
        if role == .peripheral { deliver([0x02, 0x17, 0x00], on: .attribute, of: link) }
        drain()
    }

    /// Disconnects the adversary's link, and checks that this ends all channels and requests on it.
    func disconnect() {
        let link = AttributeVictim.link
        inject(.disconnectionComplete(.init(status: .success, handle: link, reason: .remoteUserTerminatedConnection)))
        check(record.open.isEmpty, "leaves channels open: \(record.open)")
        let (wanted, openings) = (record.wanted, record.openings)
        check(openings == wanted, "reports the outcome of \(openings.withNoun("channel")), not \(wanted)")
    }

    /// Returns the host's identifier for the device with this address; lets the host discover the device if necessary.
    ///
    /// Returns `nil` if the host does not report the device.
    func identify(_ address: DeviceAddress) -> PeerIdentifier? {
        if let known = peers[address] { return known }
        host.perform(.scan(ScanRequest()), for: Self.central, at: now)
        drain()
        let report = HCI.LEAdvertisingReport.Report(
            type: .connectable,
            address: address,
            data: [],
            rssi: RSSI(dBm: -50)
        )
        inject(.leAdvertisingReport(.init(reports: [report])))
        advance(by: .milliseconds(100))
        host.perform(.stopScan, for: Self.central, at: now)
        drain()
        return peers[address]
    }

    func inject(_ event: HCIEventPacket) {
        host.receive(event.encoded.span, at: now)
        drain()
    }

    /// Makes the peer of a link send an L2CAP packet.
    func deliver(_ payload: [UInt8], on channel: ChannelIdentifier, of link: ConnectionHandle) {
        var encoder = PacketEncoder()
        let length = UInt16(payload.count)
        encoder.append(octet: HCI.PacketType.acl.wire)
        ACLHeader(handle: link, boundary: .firstFromController, length: length + 4).encode(into: &encoder)
        L2CAPHeader(length: length, channel: channel).encode(into: &encoder)
        encoder.append(contentsOf: payload)
        host.receive(encoder.bytes.span, at: now)
    }
}

extension SignalVictim {
    /// Processes the outputs of the host, and records the packets and events in them.
    func drain() {
        while let output = host.next() {
            if case .packet(let packet) = output {
                if packet.first == HCI.PacketType.command.wire { processCommand(packet) } else { receive(packet) }
            } else if case .event(let event, _) = output {
                note(event)
            }
        }
    }

    private func processCommand(_ packet: [UInt8]) {
        guard let command = try? HCICommandPacket(decoding: [UInt8](packet.dropFirst())) else {
            return check(false, "sends an invalid command: \(packet.hexadecimal)")
        }
        check(command.opcode != .disconnect, "ends a link")
        host.receive(ObedientController.answer(to: command).encoded.span, at: now)
    }

    /// Processes a packet that the host sends on a link.
    ///
    /// Each packet fits into one buffer of the controller.
    private func receive(_ packet: [UInt8]) {
        let link = ConnectionHandle(wire: UInt16(packet[1]) | UInt16(packet[2] & 0x0F) << 8) ?? .lowest
        let channel = ChannelIdentifier(wire: UInt16(packet[7]) | UInt16(packet[8]) << 8)
        let payload = [UInt8](packet.dropFirst(9))
        host.receive(
            HCIEventPacket.numberOfCompletedPackets(.init(completed: [.init(handle: link, count: 1)])).encoded.span,
            at: now
        )
        if channel == .attribute, payload.first == ATT.Opcode.exchangeMTURequest.wire {
            deliver([0x03, 0x17, 0x00], on: .attribute, of: link)
        } else if link == AttributeVictim.other {
            record.sentElsewhere.append(payload)
        } else if channel == .leSignaling {
            record.signals.append(payload)
            if Self.answers.contains(payload[0]) { record.answers.append(payload) }
        } else {
            record.frames.append((channel, payload))
        }
    }

    /// The codes of signalling packets that answer others: Command Reject and the responses.
    private static let answers: [UInt8] = [0x01, 0x07, 0x13, 0x15, 0x18, 0x1A]

    private func note(_ event: ClientEvent) {
        if case .discovered(let report) = event { peers[report.address] = report.peer }
        if case .peer(_, .channelOpened(_, let result), _) = event {
            record.openings += 1
            if case .success(let channel) = result { record.noteOpened(channel.id) }
        }
        if case .server(.channelOpened(let channel, _)) = event { record.noteOpened(channel.id) }
        if case .server(.readRequested(let transaction, _, _, _)) = event {
            record.asked.append(.init(transaction: transaction, parts: nil))
        }
        if case .server(.writeRequested(let transaction?, _, let parts)) = event {
            record.asked.append(.init(transaction: transaction, parts: [WritePart](parts)))
        }
        if case .peer(_, .valueRead(let handle, let result), _) = event {
            let value = try? result.get()
            record.results.append((handle.wire, value.map { .value($0) } ?? .failure))
        }
        if case .peer(_, .valueWritten(let handle, let failure), _) = event {
            record.results.append((handle.wire, failure == nil ? .value([]) : .failure))
        }
        if case .channel(let id, let event) = event { record.channelEvents.append((id, event)) }
        if case .channel(let id, .closed) = event {
            check(record.open.contains(id), "closes a channel that is not open")
            record.open.removeAll { $0 == id }
        }
    }
}

extension SignalVictim.Record {
    fileprivate mutating func noteOpened(_ channel: ChannelID) {
        open.append(channel)
        opened.append(channel)
    }
}
