import BLEWire

// Channels that peers request.
extension ChannelLayer {
    /// Responds to a request for one channel.
    ///
    /// Core 6.0, Vol 3, Part A, 4.22 and 4.23.
    mutating func accept(
        _ request: Signal.LECreditBasedConnectionRequest,
        _ identifier: SignalIdentifier,
        on handle: ConnectionHandle,
        _ trust: LinkTrust
    ) {
        guard let link = links.index(of: handle) else { return }
        func refuse(_ result: Signal.ConnectionResult) {
            send(.leCreditBasedConnectionResponse(.init(refusing: result)), identifier, on: handle)
        }
        guard ChannelSizes.single.allow(mtu: request.mtu, mps: request.mps) else {
            return refuse(.unacceptableParameters)
        }
        guard let publication = publications.first(where: { $0.spsm == request.spsm }) else {
            return refuse(.spsmNotSupported)
        }
        if let result = trust.refusal(where: publication.security) { return refuse(result) }
        if let result = links.values[link].refusal(of: request.source) { return refuse(result) }
        guard let local = links.values[link].allocate(1).first else { return refuse(.insufficientResources) }
        let response = Signal.LECreditBasedConnectionResponse(
            destination: local,
            mtu: UInt16(limits.channelMTU),
            mps: UInt16(limits.channelPacket),
            credits: UInt16(limits.channelCredits)
        )
        send(.leCreditBasedConnectionResponse(response), identifier, on: handle)
        let outgoing = flow(mtu: request.mtu, mps: request.mps, credits: request.credits)
        add(.single, publication, local, request.source, outgoing, on: handle)
    }

    /// Responds to a request for several channels.
    ///
    /// If one channel cannot be opened, the others may still be opened.
    ///
    /// Core 6.0, Vol 3, Part A, 4.25 and 4.26.
    mutating func accept(
        _ request: Signal.CreditBasedConnectionRequest,
        _ identifier: SignalIdentifier,
        on handle: ConnectionHandle,
        _ trust: LinkTrust
    ) {
        guard let link = links.index(of: handle) else { return }
        let publication = enhancedPublication(request.spsm)
        func answer(_ result: Signal.ConnectionResult, _ destinations: [ChannelIdentifier], isOpen: Bool) {
            let response = Signal.CreditBasedConnectionResponse(
                mtu: isOpen ? UInt16(clamping: mtu(of: publication?.owner ?? .noOwner)) : 0,
                mps: isOpen ? UInt16(limits.channelPacket) : 0,
                credits: isOpen ? UInt16(limits.channelCredits) : 0,
                result: result,
                destinations: destinations
            )
            send(.creditBasedConnectionResponse(response), identifier, on: handle)
        }
        func refuse(_ result: Signal.ConnectionResult) {
            answer(result, request.sources.map { _ in .none }, isOpen: false)
        }
        guard ChannelSizes.enhanced.allow(mtu: request.mtu, mps: request.mps), request.credits > 0 else {
            return refuse(.invalidParameters)
        }
        guard let publication else { return refuse(.spsmNotSupported) }
        if let result = trust.refusal(where: publication.security) { return refuse(result) }
        let refusals = links.values[link].refusals(of: request.sources)
        let room = links.values[link].room(for: publication.owner, limits)
        var names = links.values[link].allocate(min(room, refusals.count { $0 == nil }))[...]
        let destinations = refusals.map { $0 == nil ? names.popFirst() ?? .none : .none }
        let isShort = zip(refusals, destinations).contains { $0 == nil && $1 == .none }
        let result = refusals.lazy.compactMap(\.self).first ?? (isShort ? .insufficientResources : .success)
        answer(result, destinations, isOpen: destinations.contains { $0 != .none })
        for (local, source) in zip(destinations, request.sources) where local != .none {
            let outgoing = flow(mtu: request.mtu, mps: request.mps, credits: request.credits)
            add(.enhanced, publication, local, source, outgoing, on: handle)
        }
    }

    private mutating func add(
        _ kind: CreditChannel.Kind,
        _ publication: Publication,
        _ local: ChannelIdentifier,
        _ remote: ChannelIdentifier,
        _ outgoing: OutgoingFlow,
        on handle: ConnectionHandle
    ) {
        let channel = insert(kind, publication.spsm, local, remote, publication.owner, outgoing, on: handle)
        switch publication.owner {
        case .client(let client): outbox.append(.accepted(channel.opened, for: client, of: handle))
        case .attributes: outbox.append(.bearer(.opened(channel.opened), of: handle))
        case .noOwner: break
        }
    }

    /// Returns the publication with this PSM for enhanced channels; `nil` if there is none.
    ///
    /// The publication for Enhanced ATT bearers is this host's own. All others are clients'.
    private func enhancedPublication(_ spsm: SPSM) -> Publication? {
        if spsm == .enhancedATT, bearerMTU != nil {
            return Publication(spsm: spsm, owner: .attributes, security: .encrypted)
        }
        return publications.first { $0.spsm == spsm }
    }

    /// Returns the outgoing flow to a peer that has announced these sizes and granted these credits.
    func flow(mtu: UInt16, mps: UInt16, credits: UInt16) -> OutgoingFlow {
        OutgoingFlow(mtu: Int(mtu), mps: Int(mps), credits: Int(credits), maximumFrame: limits.channelPacket)
    }
}

/// The limits of the MTU and MPS that a device may announce.
///
/// `least` is the minimum for each of them, in octets.
struct ChannelSizes {
    let least: UInt16

    static let single = Self(least: 23)
    static let enhanced = Self(least: 64)

    func allow(mtu: UInt16, mps: UInt16) -> Bool { mtu >= least && least...65533 ~= mps }
}

extension ChannelLink {
    /// Returns, for each channel identifier, the result that refuses it; `nil` if the peer may use the identifier.
    fileprivate func refusals(of sources: [ChannelIdentifier]) -> [Signal.ConnectionResult?] {
        sources.enumerated().map { position, source in
            sources[..<position].contains(source) ? .sourceAlreadyAllocated : refusal(of: source)
        }
    }

    /// Returns how many more channels this owner may have on the link.
    fileprivate func room(for owner: CreditChannel.Owner, _ limits: Limits) -> Int {
        switch owner {
        case .attributes:
            let taken = channels.count { $0.owner == owner } + openings.count { $0.owner == owner }
            return max(0, limits.enhancedBearers - taken)
        case .client, .noOwner: return Signal.channelsPerRequest.upperBound
        }
    }

    /// Returns the result that refuses a channel identifier; `nil` if the peer may use the identifier.
    fileprivate func refusal(of source: ChannelIdentifier) -> Signal.ConnectionResult? {
        guard source.isDynamic else { return .invalidSource }
        return index(remote: source) == nil ? nil : .sourceAlreadyAllocated
    }
}

extension LinkTrust {
    /// Returns the result that refuses a channel on a link without the required security; `nil` if the link is secure
    /// enough.
    fileprivate func refusal(where needed: LinkRequirement) -> Signal.ConnectionResult? {
        switch missingSecurity(for: needed) {
        case .authentication: .insufficientAuthentication
        case .encryption: .insufficientEncryption
        case .keySize: .encryptionKeySizeTooShort
        case .authorization: .insufficientAuthorization
        case nil: nil
        }
    }
}
