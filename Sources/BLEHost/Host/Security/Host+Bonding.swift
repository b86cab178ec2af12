import BLEWire

// What comes of a pairing that has succeeded.
extension Host {
    /// Completes a pairing as soon as the peer has acknowledged the last key of this host.
    ///
    /// If the link is lost before that, the peer has no bond. A bond that only this host stored would separate the two,
    /// because the peer could not encrypt with it.
    mutating func confirmPairing(on handle: ConnectionHandle, at now: Instant) {
        guard scheduler.hasSentPairing(handle), let index = pairings.entries.index(of: handle),
            let peer = links[handle]?.peer, let outcome = pairings.entries.values[index].outcome.take()
        else { return }
        paired(outcome, with: peer, on: handle, at: now)
    }

    /// Records the end of a pairing, whose bond replaces the previous one.
    mutating func paired(
        _ outcome: PairingOutcome,
        with peer: PeerIdentifier,
        on handle: ConnectionHandle,
        at now: Instant
    ) {
        pairings.entries.update(handle) { $0.hasPaired = true }
        if outcome.method == .outOfBand { pairings.useSecrets(on: handle) }
        trust(handle, outcome.security, keySize: outcome.strength.keySize, at: now)
        var isBonded = false
        if var bond = outcome.bond {
            bond.users = usersOfBond(with: peer, on: handle)
            isBonded = keepNew(bond, of: handle, at: now)
        }
        tellAgents(.paired(peer, outcome.method, isBonded: isBonded), of: handle)
        secured(handle, with: outcome.strength, isBonded: isBonded)
        answerSecurity(of: handle, .secured, at: now)
        proceed(at: now)
    }

    /// Keeps the bond that a pairing has made, with what the peer has proved of its identity.
    ///
    /// - Returns: `false` if there is no room for it.
    private mutating func keepNew(_ made: Bond, of handle: ConnectionHandle, at now: Instant) -> Bool {
        guard let link = links[handle] else {
            note(.unknownLink(handle))
            return false
        }
        let peer = link.peer, claimed = made.identity.onAir
        let isInUse =
            attachments.all.contains { $0.peer != peer && $0.address == claimed }
            || links.values.contains { $0.peer != peer && $0.onAir.peer == claimed }
        let (bond, change) = peers.paired(peer, made, at: link.onAir.peer, isInUse: isInUse)
        if bond.identity.onAir != claimed { note(.unprovedIdentity(claimed, handle)) }
        return apply(change, bond, of: handle, at: now)
    }

    /// The users of a bond that a pairing on a link has made: those of the apps there and of the bond it replaces.
    private func usersOfBond(with peer: PeerIdentifier, on handle: ConnectionHandle) -> [UInt32] {
        var users = apps(on: handle).users
        for user in peers.bond(with: peer)?.users ?? [] where !users.contains(user) { users.append(user) }
        return Array(users.prefix(Bond.mostUsers))
    }

    /// Removes the bond with a peer.
    ///
    /// A link that is encrypted, or about to be, ends.
    ///
    /// Requests on another link that wait for the proof of this bond are continued.
    mutating func removeBond(with peer: PeerIdentifier, at now: Instant) {
        let waiting = links.handles.filter { links[$0]?.peer == peer && awaitsProof($0) }
        remember(peers.unbonded(peer))
        forgetBond(with: peer, at: now)
        for handle in links.handles where links[handle]?.peer == peer && links[handle]?.encryption != LinkEncryption() {
            disconnect(handle, reason: .authenticationFailure, at: now)
        }
        for handle in waiting where links[handle]?.isClosing == false {
            answerSecurity(of: handle, .refused(nil), at: now)
        }
    }

    /// Makes a bond invalid on all links to its peer.
    mutating func forgetBond(with peer: PeerIdentifier, at now: Instant) {
        pairings.bondRemoved(with: peer)
        for handle in links.handles where links[handle]?.peer == peer {
            withLayers(at: now) { attributes, _ in attributes.unbonded(handle) }
        }
    }

    /// Reports the strength of a link's key to the agents.
    mutating func secured(_ handle: ConnectionHandle, with strength: PairingStrength, isBonded: Bool) {
        let peer = links.update(handle) { link in
            link.secured(with: strength)
            return link.peer
        }
        if let peer { tellAgents(.secured(peer, strength, isBonded: isBonded), of: handle) }
    }
}
