import BLEHost
import BLEWire

extension ChannelOracle {
    /// Predicts the reaction of the host to a packet on the signalling channel.
    mutating func receiveSignal(_ octets: [UInt8]) -> Reaction {
        guard octets.count >= 2, let identifier = SignalIdentifier(wire: octets[1]) else { return Reaction() }
        guard octets.count <= SignalPacket.minimumMTU else {
            return answer(.commandReject(.mtuExceeded(mtu: UInt16(SignalPacket.minimumMTU))), identifier)
        }
        guard let packet = try? SignalPacket(decoding: octets) else {
            let isAnswer = [0x01, 0x07, 0x13, 0x15, 0x16, 0x18, 0x1A].contains(octets[0])
            return isAnswer ? Reaction() : answer(.commandReject(.notUnderstood), identifier)
        }
        switch packet.signal {
        case .unknown: return answer(.commandReject(.notUnderstood), identifier)
        case .connectionParameterUpdateRequest(let request):
            guard role == .central else { return answer(.commandReject(.notUnderstood), identifier) }
            return answer(
                .connectionParameterUpdateResponse(.init(request.isAllowed ? .accepted : .rejected)),
                identifier
            )
        case .leCreditBasedConnectionRequest(let request): return open(request, identifier)
        case .creditBasedConnectionRequest(let request): return open(request, identifier)
        case .creditBasedReconfigureRequest(let request):
            return answer(.creditBasedReconfigureResponse(.init(reconfigure(request))), identifier)
        case .disconnectionRequest(let request): return close(request, identifier)
        case .disconnectionResponse(let response):
            channels.removeAll {
                $0.isClosing && $0.request == identifier && $0.local == response.source
                    && $0.remote == response.destination
            }
            return Reaction()
        case .commandReject:
            channels.removeAll { $0.isClosing && $0.request == identifier }
            openings.removeAll { $0.identifier == identifier }
            return Reaction()
        case .flowControlCredit(let credit): return grant(credit)
        case .creditBasedConnectionResponse(let response): return opened(response, identifier)
        case .connectionParameterUpdateResponse, .leCreditBasedConnectionResponse, .creditBasedReconfigureResponse:
            return Reaction()
        }
    }

    private func answer(_ signal: Signal, _ identifier: SignalIdentifier) -> Reaction {
        Reaction(answers: [.signal(SignalPacket(signal, identifier: identifier))])
    }

    private mutating func close(_ request: Signal.DisconnectionRequest, _ identifier: SignalIdentifier) -> Reaction {
        let (local, remote) = (request.destination, request.source)
        guard let index = channels.firstIndex(where: { $0.local == local }) else {
            return answer(.commandReject(.invalidChannel(local: local, remote: remote)), identifier)
        }
        guard channels[index].remote == remote else { return Reaction() }
        var reaction = answer(.disconnectionResponse(.init(destination: local, source: remote)), identifier)
        reaction.add(gone(channels.remove(at: index)))
        return reaction
    }

    private mutating func grant(_ credit: Signal.FlowControlCredit) -> Reaction {
        guard let index = channels.firstIndex(where: { $0.remote == credit.channel }) else { return Reaction() }
        guard channels[index].granted + Int(credit.credits) <= Int(UInt16.max) else {
            return reactionToViolation(index)
        }
        channels[index].granted += Int(credit.credits)
        return sendWaiting(index)
    }

    private mutating func open(
        _ request: Signal.LECreditBasedConnectionRequest,
        _ identifier: SignalIdentifier
    ) -> Reaction {
        let result: Signal.ConnectionResult =
            if request.mtu < 23 || request.mps < 23 || request.mps > 65533 {
                .unacceptableParameters
            } else if request.spsm != Self.spsm {
                .spsmNotSupported
            } else {
                refusal(of: request.source) ?? .success
            }
        if result == .success {
            unnamed = [channel(request.source, false, request.mtu, request.mps, request.credits)]
        }
        return opening(identifier, result, [result == .success])
    }

    private mutating func open(
        _ request: Signal.CreditBasedConnectionRequest,
        _ identifier: SignalIdentifier
    ) -> Reaction {
        let none = request.sources.map { _ in false }
        if request.mtu < 64 || request.mps < 64 || request.mps > 65533 || request.credits == 0 {
            return opening(identifier, .invalidParameters, none)
        }
        let isBearer = request.spsm == .enhancedATT && attributes != nil
        guard request.spsm == Self.spsm || isBearer else { return opening(identifier, .spsmNotSupported, none) }
        var room = isBearer ? Self.bearers - bearerCount : none.count
        let refusals = request.sources.enumerated().map { position, source -> Signal.ConnectionResult? in
            if request.sources[..<position].contains(source) { return .sourceAlreadyAllocated }
            if let refusal = refusal(of: source) { return refusal }
            room -= 1
            return room < 0 ? .insufficientResources : nil
        }
        unnamed = zip(request.sources, refusals).filter { $1 == nil }.map { source, _ in
            var channel = self.channel(source, true, request.mtu, request.mps, request.credits)
            channel.isBearer = isBearer
            return channel
        }
        let reasons = refusals.compactMap(\.self)
        let result = reasons.first { $0 != .insufficientResources } ?? reasons.first ?? .success
        return opening(identifier, result, refusals.map { $0 == nil }, areTold: !isBearer)
    }

    /// The number of bearers that are open or that the host has requested.
    private var bearerCount: Int {
        channels.count { $0.isBearer && !$0.isClosing } + openings.reduce(0) { $0 + $1.locals.count }
    }

    private func opening(
        _ identifier: SignalIdentifier,
        _ result: Signal.ConnectionResult,
        _ places: [Bool],
        areTold: Bool = true
    ) -> Reaction {
        Reaction(
            answers: [.opening(identifier, result, places)],
            events: places.filter { $0 && areTold }.map { _ in .opened }
        )
    }

    private func refusal(of source: ChannelIdentifier) -> Signal.ConnectionResult? {
        if !(0x0040...0x007F ~= source.wire) { return .invalidSource }
        return channels.contains { $0.remote == source } ? .sourceAlreadyAllocated : nil
    }

    func channel(
        _ remote: ChannelIdentifier,
        _ isEnhanced: Bool,
        _ mtu: UInt16,
        _ mps: UInt16,
        _ credits: UInt16
    ) -> Channel {
        Channel(remote: remote, isEnhanced: isEnhanced, mtu: mtu, mps: mps, granted: Int(credits))
    }

    private mutating func reconfigure(
        _ request: Signal.CreditBasedReconfigureRequest
    ) -> Signal.CreditBasedReconfigureResponse.Result {
        if request.mtu < 64 || request.mps < 64 || request.mps > 65533 { return .unacceptableParameters }
        // If several channels are invalid, the first of them determines the result.
        var named: [Int] = []
        for name in request.channels {
            guard let index = channels.firstIndex(where: { $0.remote == name && $0.isEnhanced }),
                !named.contains(index)
            else { return .invalidDestination }
            if channels[index].mtu > request.mtu { return .mtuReduced }
            named.append(index)
        }
        if named.count > 1, named.contains(where: { channels[$0].mps > request.mps }) { return .mpsReduced }
        for index in named { (channels[index].mtu, channels[index].mps) = (request.mtu, request.mps) }
        return .success
    }
}

// The decisions that the specification leaves to the host.
extension ChannelOracle {
    /// Records `locals`, the identifiers that the host chose for the ``unnamed`` channels, in order; returns false if
    /// they are not allowed.
    mutating func name(_ locals: [ChannelIdentifier]) -> Bool {
        guard locals.count == unnamed.count else { return false }
        for (channel, local) in zip(unnamed, locals) {
            guard 0x0040...0x007F ~= local.wire, !channels.contains(where: { $0.local == local }) else { return false }
            var channel = channel
            channel.local = local
            channels.append(channel)
            if channel.isBearer { attributes?.opened(local) }
        }
        unnamed = []
        return true
    }

    /// Records credits that the host gives the peer; returns false if the host may not give them.
    mutating func receive(_ credit: Signal.FlowControlCredit) -> Bool {
        guard let index = channels.firstIndex(where: { $0.local == credit.channel }) else { return false }
        channels[index].credits += Int(credit.credits)
        return credit.credits > 0 && channels[index].credits <= Self.window && !channels[index].isClosing
    }

    /// Records the signal identifier of the host's request to close a channel.
    mutating func asked(toClose local: ChannelIdentifier, _ identifier: SignalIdentifier) {
        guard let index = channels.firstIndex(where: { $0.local == local }) else { return }
        channels[index].request = identifier
    }
}
