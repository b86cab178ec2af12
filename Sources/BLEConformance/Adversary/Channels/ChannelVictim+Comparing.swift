import BLEHost
import BLEWire

extension ChannelVictim {
    /// Compares the actions of the host since the last step with the oracle's prediction.
    ///
    /// `cause` describes that step, for the text of a fault.
    func compare(with expected: ChannelOracle.Reaction, after cause: String) {
        var reaction = ChannelOracle.Reaction()
        var names: [ChannelIdentifier] = []
        for octets in base.record.signals { note(octets, &reaction, &names) }
        base.check(names.isEmpty || oracle.name(names), "uses unexpected channel identifiers after \(cause): \(names)")
        for (id, local) in zip(base.record.opened, names) { recordOwner(id, local) }
        reaction.frames = frames()
        reaction.events = base.record.opened.map { _ in .opened }
        for (id, event) in base.record.channelEvents {
            guard let local = name(of: id) else {
                return base.check(false, "reports an event of an unknown channel")
            }
            switch event {
            case .received(let unit): reaction.events.append(.received(local, unit))
            case .closed(let failure): reaction.events.append(.closed(local, failure))
            case .sent, .resized: break
            }
        }
        reaction.events += base.record.asked.map { $0.parts.map { .askedToWrite($0) } ?? .askedToRead }
        for (handle, outcome) in base.record.results {
            base.check(
                oracle.attributes?.recordResult(outcome, of: handle) == true,
                "reports \(outcome) for \(handle) to an app after \(cause)"
            )
        }
        let elsewhere = base.record.sentElsewhere
        base.check(elsewhere.isEmpty, "sends \(elsewhere.map(\.hexadecimal)) to another peer after \(cause)")
        base.check(reaction == expected.sorted, "reacts with \(reaction), not \(expected), to \(cause)")
    }

    /// Returns the packets that the host sent on channels, sorted by channel.
    ///
    /// The host's own ATT requests are left out, and given to the oracle.
    private func frames() -> [ChannelOracle.Frame] {
        var frames: [ChannelOracle.Frame] = []
        for (channel, payload) in base.record.frames {
            let name =
                channel == .attribute
                ? channel : oracle.channels.first { $0.remote == channel && $0.isBearer }?.local
            let packet = channel == .attribute ? payload : [UInt8](payload.dropFirst(2))
            if let name, let opcode = packet.first, AttributeOracle.requests.contains(opcode) {
                base.check(
                    oracle.ask(packet, on: name),
                    "sends an unexpected request on \(name): \(packet.hexadecimal)"
                )
            } else {
                frames.append(.init(channel: channel, payload: payload))
            }
        }
        return ChannelOracle.Reaction(frames: frames).sorted.frames
    }

    /// Records a packet from the host on the signalling channel, and gives the oracle the decisions that the packet
    /// contains.
    ///
    /// Adds the packet to `reaction`, unless it grants credits or requests bearers. Adds the channel identifiers that
    /// the host chose in a response to `names`.
    private func note(
        _ octets: [UInt8],
        _ reaction: inout ChannelOracle.Reaction,
        _ names: inout [ChannelIdentifier]
    ) {
        guard let packet = try? SignalPacket(decoding: octets) else {
            return base.check(false, "sends the invalid signal \(octets.hexadecimal)")
        }
        switch packet.signal {
        case .flowControlCredit(let credit):
            base.check(oracle.receive(credit), "sends an unexpected credit: \(credit)")
        case .disconnectionRequest(let request):
            oracle.asked(toClose: request.source, packet.identifier)
            reaction.answers.append(.closing(destination: request.destination, source: request.source))
        case .creditBasedConnectionRequest(let request) where scene != nil:
            base.check(oracle.asks(request, packet.identifier), "sends an unexpected request: \(request)")
        case .leCreditBasedConnectionResponse(let response):
            let isOpen = response.result == .success
            if isOpen { names.append(response.destination) }
            reaction.answers.append(.opening(packet.identifier, response.result, [isOpen]))
        case .creditBasedConnectionResponse(let response):
            names += response.destinations.filter { $0 != .none }
            let places = response.destinations.map { $0 != .none }
            reaction.answers.append(.opening(packet.identifier, response.result, places))
        default: reaction.answers.append(.signal(packet))
        }
    }
}

extension ChannelOracle.Reaction {
    /// This reaction with the packets sorted by channel, because the order between channels is the host's decision.
    fileprivate var sorted: Self {
        var sorted = self
        sorted.frames = frames.enumerated().sorted {
            ($0.element.channel.wire, $0.offset) < ($1.element.channel.wire, $1.offset)
        }.map(\.element)
        return sorted
    }
}
