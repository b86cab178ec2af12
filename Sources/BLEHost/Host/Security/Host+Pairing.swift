import BLEWire

// Pairing, and the questions to the user about it.
extension Host {
    /// Processes a packet from the peer's security manager.
    mutating func receivePairing(_ packet: Span<UInt8>, on handle: ConnectionHandle, at now: Instant) {
        guard prepareToPair(on: handle), let index = pairings.entries.index(of: handle) else {
            return refusePairing(packet, on: handle, at: now)
        }
        let isUnderWay = pairings.entries.values[index].manager.isUnderWay
        var needsMITM = false
        if !isUnderWay, links[handle]?.role == .peripheral, PairingRefusal.isPairingRequest(packet) {
            let hasData = PairingRefusal.showsOutOfBandData(packet)
            let admission = admissionOfPairingByPeer(on: handle, peerHasData: hasData)
            if admission == .refused {
                note(.pairingUnwanted(handle))
                return refusePairing(packet, on: handle, at: now)
            }
            needsMITM = admission == .onlyAuthenticated
            beginPairing(on: handle, at: index, for: .peer)
        }
        pairings.entries.values[index].manager.receive(packet, needsMITM: needsMITM, at: now)
        drainPairing(handle, at: now)
    }

    private mutating func refusePairing(_ packet: Span<UInt8>, on handle: ConnectionHandle, at now: Instant) {
        guard let answer = PairingRefusal.answer(to: packet) else { return }
        send(OutgoingPayload(answer), on: .securityManager, of: handle, at: now)
    }

    /// Returns whether, and on which condition, this host lets the peer of a link start a pairing.
    ///
    /// Any device in range can request a pairing. Unless the policy allows every pairing, this host accepts only one
    /// that is wanted on this side: by the user, who is asked or has provided out-of-band data; or, if the policy
    /// allows it, by an app that is connected to the peer or has published something that requires encryption. As the
    /// central, this host also requires that an app is connected to the peer.
    ///
    /// `peerHasData` is true if the peer claims to have this host's out-of-band data. If only out-of-band data are the
    /// reason to admit the pairing, the pairing must use them.
    private func admissionOfPairingByPeer(on handle: ConnectionHandle, peerHasData: Bool) -> PairingAdmission {
        guard let link = links[handle] else { return .refused }
        let apps = apps(on: handle), unattended = pairings.unattended(for: apps)
        if unattended == .always { return .admitted }
        let isUsed = isUsedByApp(handle)
        if link.role == .central, !isUsed { return .refused }
        let isNeeded = isUsed || layers.attributes.database.needsEncryption || layers.channels.needsEncryption
        if pairings.agent(for: apps) != nil || unattended == .whenNeeded && isNeeded { return .admitted }
        let hasData = pairings.hasOutOfBandData(for: link.peer, apps: apps, peerMayHaveData: peerHasData)
        return hasData ? .onlyAuthenticated : .refused
    }

    /// Returns whether an app is connected to the peer of a link, or is about to be.
    private func isUsedByApp(_ handle: ConnectionHandle) -> Bool {
        clientConnections.entries(on: handle).contains { $0.state.link != nil }
    }

    /// Returns the party that wants the bond that the current pairing on a link creates: the user, an app or the peer.
    private func bondOrigin(ofPairingOn handle: ConnectionHandle, by method: PairingMethod) -> Bond.Origin {
        guard let entry = pairings.entries[handle] else { return .peer }
        if entry.hasAskedUser || entry.cause == .request || method == .outOfBand { return .user }
        return bondOrigin(using: handle)
    }

    /// Returns the party that wants a bond for which the user did not ask: an app if one uses the link, otherwise the
    /// peer.
    func bondOrigin(using handle: ConnectionHandle) -> Bond.Origin { isUsedByApp(handle) ? .app : .peer }

    /// Records that a pairing begins.
    ///
    /// If there is no room for a bond, this host tells the peer that it will not bond.
    private mutating func beginPairing(
        on handle: ConnectionHandle,
        at index: Int,
        for cause: PairingInquiry.Cause
    ) {
        let peer = pairings.entries.values[index].peer
        let apps = apps(on: handle)
        let isAsked =
            pairings.agent(for: apps) != nil || cause == .request
            || pairings.hasOutOfBandData(for: peer, apps: apps, peerMayHaveData: true)
        let hasRoom = peers.hasRoom(forBondWith: peer, wantedBy: isAsked ? .user : bondOrigin(using: handle))
        if !hasRoom { note(.limitReached(.bonds)) }
        pairings.begin(at: index, for: cause, hasRoom: hasRoom)
    }

    /// Raises the security of a link, because the peer has rejected a request on the grounds of insufficient security.
    mutating func raiseSecurity(of handle: ConnectionHandle, at now: Instant) {
        guard let index = links.index(of: handle) else { return }
        if links.values[index].encryption.isStarting || pairings.entries[handle]?.outcome != nil { return }
        let isEncrypted = links.values[index].encryption.isOn
        if !isEncrypted, let key = bondKey(of: handle) {
            if links.values[index].role == .central { return encrypt(handle, with: key, from: .bond, at: now) }
            return pair(handle, needsMITM: false, for: .refusal, at: now)
        }
        let hasPaired = pairings.entries[handle]?.hasPaired ?? false
        let cannotAuthenticate = pairings.entries[handle]?.cannotAuthenticate ?? false
        guard !isEncrypted || !hasPaired && !cannotAuthenticate else {
            return answerSecurity(of: handle, .refused(nil), at: now)
        }
        pair(handle, needsMITM: isEncrypted, for: .refusal, at: now)
    }

    /// Asks the central to encrypt the link, and thereby to prove that it is the bonded peer whose address it uses.
    ///
    /// An app's requests wait until the central has done so. If a policy forbids the use of the bond, they continue
    /// without the bond. Has no effect if this host is the central, or if the peer has nothing to prove.
    mutating func askForProof(on handle: ConnectionHandle, at now: Instant) {
        guard let link = links[handle], link.role == .peripheral else { return }
        if awaitsProof(handle) { return pair(handle, needsMITM: false, for: .request, at: now) }
        guard link.encryption == LinkEncryption(), peers.bond(with: link.peer) != nil,
            pairings.entries[handle]?.manager.isUnderWay != true
        else { return }
        answerSecurity(of: handle, .refused(nil), at: now)
    }

    /// Returns whether the peer of a link has yet to prove its bond.
    func awaitsProof(_ handle: ConnectionHandle) -> Bool {
        bondKey(of: handle) != nil && links[handle]?.encryption.isOn == false
    }

    /// Gives up raising the security of a link; the requests that wait for more security fail.
    ///
    /// If the peer has not proved its bond, this host must not request anything from the peer. In this case, the link
    /// ends if a client is connected over it; otherwise, the call has no effect.
    private mutating func stopRaisingSecurity(on handle: ConnectionHandle, for failure: Failure?, at now: Instant) {
        guard awaitsProof(handle) else { return answerSecurity(of: handle, .refused(failure), at: now) }
        guard clientConnections.entries(on: handle).contains(where: { $0.state.link != nil }) else { return }
        disconnect(handle, for: failure ?? .hci(.authenticationFailure), reason: .authenticationFailure, at: now)
    }

    /// Starts pairing if this host is the central; otherwise asks the central to start it.
    ///
    /// `needsMITM` is true if the key must be protected against a man in the middle.
    private mutating func pair(
        _ handle: ConnectionHandle,
        needsMITM: Bool,
        for cause: PairingInquiry.Cause,
        at now: Instant
    ) {
        guard prepareToPair(on: handle), let index = pairings.entries.index(of: handle) else {
            return stopRaisingSecurity(on: handle, for: .notSupported, at: now)
        }
        // The pairing has succeeded, and everything that waits for it is about to continue.
        guard pairings.entries.values[index].outcome == nil else { return }
        let peer = pairings.entries.values[index].peer, isForbidden = isPairingForbidden(on: handle, for: cause)
        if isForbidden, !pairings.hasOutOfBandData(for: peer, apps: apps(on: handle), peerMayHaveData: true) {
            return pairingFailed(.noAgent, with: peer, on: handle, at: now)
        }
        let needsMITM = needsMITM || isForbidden
        if !pairings.entries.values[index].manager.isUnderWay {
            guard pairings.entries.values[index].manager.canPair(needsMITM: needsMITM) else {
                return pairingFailed(.cannotAuthenticate, with: peer, on: handle, at: now)
            }
            beginPairing(on: handle, at: index, for: cause)
        }
        pairings.entries.values[index].manager.pair(needsMITM: needsMITM, at: now)
        drainPairing(handle, at: now)
    }

    /// Returns whether pairing for this cause is forbidden without out-of-band data, because the policy requires an
    /// agent and there is none.
    ///
    /// It is not forbidden if a client has requested it. It is also not forbidden if this host is the peripheral and
    /// the central has yet to encrypt the link with an existing bond, because this host may always ask the central to
    /// do so.
    private func isPairingForbidden(on handle: ConnectionHandle, for cause: PairingInquiry.Cause) -> Bool {
        let apps = apps(on: handle)
        guard pairings.unattended(for: apps) == .never, pairings.agent(for: apps) == nil, cause != .request else {
            return false
        }
        return links[handle]?.role == .central || !awaitsProof(handle)
    }

    /// Creates the security manager of a link if the link has none; returns `false` if the controller cannot encrypt.
    private mutating func prepareToPair(on handle: ConnectionHandle) -> Bool {
        if pairings.entries.index(of: handle) != nil {
            pairings.note(apps(on: handle), on: handle)
            return true
        }
        guard case .ready(let controller) = phase, let link = links[handle] else { return false }
        let needed: HCI.Opcode = link.role == .central ? .leEnableEncryption : .leLongTermKeyRequestReply
        guard controller.commands.contains(needed) else { return false }
        pairings.prepare(
            handle,
            to: link.peer,
            role: link.role,
            local: link.onAir.local,
            remote: link.onAir.peer,
            identity: identity(on: controller),
            existing: peers.bond(with: link.peer)?.strength,
            apps: apps(on: handle)
        )
        return true
    }

    /// Returns the LTK in the bond with a link's peer for this host's role on the link; `nil` if there is no usable
    /// bond, or no LTK for that role.
    func bondKey(of handle: ConnectionHandle) -> LongTermKey? {
        guard let link = links[handle] else { return nil }
        return usableBond(on: handle)?.longTermKey(as: link.role)
    }

    /// Returns the bond with the peer of a link.
    ///
    /// Returns `nil` if there is no bond, or if it is not strong enough for the apps that use the link and for the apps
    /// of `clients`.
    func usableBond(on handle: ConnectionHandle, and clients: [ClientID] = []) -> Bond? {
        guard let peer = links[handle]?.peer, let bond = peers.bond(with: peer) else { return nil }
        return pairings.policy(for: apps(on: handle, and: clients)).admits(bond.strength) ? bond : nil
    }

    /// Tells the security manager of a link that the link's encryption has changed, or could not be changed.
    mutating func encryptionChanged(_ change: EncryptionChange, on handle: ConnectionHandle, at now: Instant) {
        guard let index = pairings.entries.index(of: handle) else { return }
        if let strength = pairings.entries.values[index].manager.encryptionChanged(change, at: now) {
            trust(handle, strength, at: now)
        }
        drainPairing(handle, at: now)
    }

    /// Removes the security manager of a link that has ended.
    mutating func endPairing(on handle: ConnectionHandle, to peer: PeerIdentifier, at now: Instant) {
        guard let index = pairings.entries.index(of: handle) else { return }
        pairings.entries.values[index].manager.disconnected(at: now)
        drainPairing(handle, at: now)
        if pairings.entries[handle]?.outcome != nil { pairingFailed(.disconnected, with: peer, on: handle, at: now) }
        pairings.linkDown(handle, to: peer)
    }

    private mutating func pairingFailed(
        _ failure: PairingFailure,
        with peer: PeerIdentifier,
        on handle: ConnectionHandle,
        at now: Instant
    ) {
        note(.pairingFailed(handle, failure))
        if failure == .refused(.authenticationRequirements) {
            pairings.entries.update(handle) { $0.cannotAuthenticate = true }
        }
        notifyAgents(.failed(peer, failure), of: handle)
        stopRaisingSecurity(on: handle, for: failure.answer, at: now)
    }

    /// Carries out the actions of a link's security manager.
    mutating func drainPairing(_ handle: ConnectionHandle, at now: Instant) {
        while let index = pairings.entries.index(of: handle), let peer = links[handle]?.peer,
            let output = pairings.entries.values[index].manager.next()
        {
            switch output {
            case .send(let packet): send(OutgoingPayload(packet), on: .securityManager, of: handle, at: now)
            case .encrypt(let key): encrypt(handle, with: key, from: .pairing, at: now)
            case .ask(let question): ask(question, about: peer, index, at: now)
            case .withdraw:
                if let asked = pairings.entries.values[index].lastAskedAgent {
                    report(to: asked, .security(.withdrawn(peer)))
                }
            case .securityRequested(let requirements): securityRequested(requirements, on: handle, at: now)
            case .paired(let outcome):
                let bondOrigin = bondOrigin(ofPairingOn: handle, by: outcome.method)
                pairings.entries.values[index].outcome = outcome.wanted(by: bondOrigin)
                confirmPairing(on: handle, at: now)
            case .failed(let failure): pairingFailed(failure, with: peer, on: handle, at: now)
            case .note(let note): self.note(.pairing(note, handle))
            }
        }
    }

    /// Passes a question to the agent of a link.
    ///
    /// Without an agent, accepts a pairing that only needs consent and replaces no bond, and declines any other
    /// pairing.
    private mutating func ask(
        _ question: PairingQuestion,
        about peer: PeerIdentifier,
        _ index: Int,
        at now: Instant
    ) {
        if let agent = pairings.agent(for: pairings.entries.values[index].apps) {
            pairings.entries.values[index].lastAskedAgent = agent.client
            let cause = pairings.entries.values[index].cause
            let inquiry = PairingInquiry(peer: peer, name: peers.name(of: peer), question: question, cause: cause)
            return report(to: agent.client, .security(.asked(inquiry)))
        }
        let reply: PairingReply = question == .consent(replacesBond: false) ? .confirm(true) : .confirm(false)
        pairings.entries.values[index].manager.answer(reply, at: now)
    }

    /// Processes a peripheral's Security Request.
    ///
    /// If this host cannot provide MITM protection, an existing bond is as good as a new one, even if the peripheral
    /// requests MITM protection. (BlueZ requests it in each Security Request.) Core 6.0, Vol 3, Part H, 2.4.6.
    private mutating func securityRequested(
        _ requirements: SMP.AuthenticationRequirements,
        on handle: ConnectionHandle,
        at now: Instant
    ) {
        guard let index = links.index(of: handle), !links.values[index].encryption.isStarting else { return }
        let canProtect = prepareToPair(on: handle) && pairings.entries[handle]?.manager.configuration.canProtect == true
        let needsMITM = requirements.contains(.mitm) && canProtect, bond = usableBond(on: handle)
        let isEnough = bond.map { $0.security == .authenticated || !needsMITM } ?? false
        if links.values[index].encryption.isOn, isEnough || pairings.entries[handle]?.hasPaired ?? false { return }
        if let key = bondKey(of: handle), isEnough { return encrypt(handle, with: key, from: .bond, at: now) }
        let admission = admissionOfPairingByPeer(on: handle, peerHasData: true)
        guard admission != .refused else {
            note(.pairingUnwanted(handle))
            send(OutgoingPayload(PairingRefusal.refusal), on: .securityManager, of: handle, at: now)
            return
        }
        pair(handle, needsMITM: admission == .onlyAuthenticated, for: .peer, at: now)
    }

    /// Raises the security of a link to `needed`: with the existing bond if the bond is sufficient, otherwise by
    /// pairing.
    mutating func raiseSecurity(of handle: ConnectionHandle, to needed: LinkSecurity, at now: Instant) {
        guard let index = links.index(of: handle), !links.values[index].encryption.isStarting else { return }
        if !links.values[index].encryption.isOn, links.values[index].role == .central, let key = bondKey(of: handle),
            let bond = usableBond(on: handle), bond.security >= needed
        {
            return encrypt(handle, with: key, from: .bond, at: now)
        }
        pair(handle, needsMITM: needed == .authenticated, for: .request, at: now)
    }

    /// Sends an event about a link to every agent that may learn about the link.
    ///
    /// The agent that the host has asked most recently about this pairing gets the event after all others. If the host
    /// has asked none, the agent that it would ask gets the event last.
    mutating func notifyAgents(_ event: SecurityEvent, of handle: ConnectionHandle) {
        let apps = pairings.entries[handle]?.apps ?? apps(on: handle)
        let last = pairings.entries[handle]?.lastAskedAgent ?? pairings.agent(for: apps)?.client
        for client in clients.agents where client != last && clients.owner(of: client).map(apps.canAnswer) ?? false {
            report(to: client, .security(event))
        }
        if let last { report(to: last, .security(event)) }
    }

    /// Carries out a request about pairing and bonds.
    mutating func perform(_ request: SecurityRequest, for client: ClientID, at now: Instant) {
        guard let owner = clients.owner(of: client) else { return note(.unknownClient(client)) }
        switch request {
        case .setAgent(let capability): pairings.setAgent(client, of: owner, capability)
        case .answer(let peer, let reply):
            guard let handle = link(to: peer), let index = pairings.entries.index(of: handle),
                pairings.entries.values[index].lastAskedAgent == client
            else { return }
            pairings.entries.values[index].manager.answer(reply, at: now)
            drainPairing(handle, at: now)
        case .pair(let peer):
            guard case .ready = phase, let handle = link(to: peer), apps(on: handle).contains(owner) else {
                return report(to: client, .security(.failed(peer, .disconnected)))
            }
            pair(handle, needsMITM: false, for: .request, at: now)
        case .setPolicy(let policy, let everywhere):
            pairings.setPolicy(policy, by: client, of: owner, everywhere: everywhere)
        case .makeOutOfBandData:
            report(to: client, .security(.outOfBandDataMade(pairings.makeOutOfBandData(for: client, of: owner))))
        case .takeOutOfBandData(let data, let peer):
            pairings.changeSecrets { $0.setPeerData(data, from: peer, by: client, of: owner) }
        case .takeTemporaryKey(let key, let peer):
            pairings.changeSecrets { $0.setTemporaryKey(key, sharedWith: peer, by: client, of: owner) }
        case .listBonds: report(to: client, .security(.bonds(peers.bonds(of: owner))))
        case .removeBond(let peer):
            if peers.bonds(of: owner).contains(where: { $0.peer == peer }) {
                removeBond(with: peer, for: owner, at: now)
            }
            report(to: client, .security(.bonds(peers.bonds(of: owner))))
        }
    }
}

/// The decision about a pairing that the peer of a link wants to start.
private enum PairingAdmission {
    case refused
    case admitted
    /// Admitted if the key is protected against a man in the middle.
    case onlyAuthenticated
}

extension PairingOutcome {
    /// Returns this outcome with `bondOrigin` as the party that wants the bond.
    fileprivate func wanted(by bondOrigin: Bond.Origin) -> Self {
        var bond = bond
        bond?.wantedBy = bondOrigin
        return Self(method: method, strength: strength, bond: bond)
    }
}

extension PairingFailure {
    /// The failure for waiting requests; `nil` if the error with which the peer rejected them is the best description.
    fileprivate var answer: Failure? {
        switch self {
        case .refused, .refusedByPeer, .tooSoon, .cannotAuthenticate, .noAgent: nil
        case .timedOut: .encryptionTimedOut
        case .encryptionFailed: .hci(.authenticationFailure)
        case .disconnected: .notConnected
        }
    }
}
