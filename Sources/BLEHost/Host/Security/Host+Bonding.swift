import BLEWire

// Bonds: storing them after a pairing, and removing them.
extension Host {
    /// Completes a pairing once the peer has acknowledged this host's last key.
    ///
    /// If the link is lost before the acknowledgement, the peer has no bond, so this host must not store one either:
    /// the peer could not encrypt a link with it.
    mutating func confirmPairing(on handle: ConnectionHandle, at now: Instant) {
        guard scheduler.hasSentPairing(handle), let index = pairings.entries.index(of: handle),
            let peer = links[handle]?.peer, let outcome = pairings.entries.values[index].outcome.take()
        else { return }
        paired(outcome, with: peer, on: handle, at: now)
    }

    /// Completes a successful pairing.
    ///
    /// The new bond replaces the previous bond, unless that is stronger or was made over another link during the
    /// pairing. In that case, the new key is only valid on this link.
    mutating func paired(
        _ outcome: PairingOutcome,
        with peer: PeerIdentifier,
        on handle: ConnectionHandle,
        at now: Instant
    ) {
        pairings.entries.update(handle) { $0.hasPaired = true }
        if outcome.method == .outOfBand { pairings.useSecrets(on: handle) }
        trust(handle, outcome.strength, at: now)
        var isBonded = false
        if var bond = outcome.bond {
            bond.users = usersOfBond(with: peer, on: handle)
            isBonded = storeNew(bond, of: handle, at: now)
        }
        notifyAgents(.paired(peer, outcome.method, isBonded: isBonded), of: handle)
        secured(handle, with: outcome.strength, isBonded: isBonded)
        answerSecurity(of: handle, .secured, at: now)
        proceed(at: now)
    }

    /// Stores the bond that a pairing has made, without claims about the peer's identity that the peer has not proved.
    ///
    /// - Returns: `false` if there is no room for the bond, or if it must not replace the previous bond.
    private mutating func storeNew(_ made: Bond, of handle: ConnectionHandle, at now: Instant) -> Bool {
        guard let link = links[handle] else {
            note(.unknownLink(handle))
            return false
        }
        let peer = link.peer, claimed = made.identity.onAir
        if let earlier = peers.bond(with: peer) {
            let isOutdated = pairings.entries[handle]?.isOutdated ?? false
            guard !isOutdated, made.strength.isAtLeast(earlier.strength) else {
                pairings.entries.update(handle) { $0.manager.existing = earlier.strength }
                note(.bondNotReplaced(handle))
                return false
            }
        }
        let isInUse =
            clientConnections.all.contains { $0.peer != peer && $0.address == claimed }
            || links.values.contains { $0.peer != peer && $0.onAir.peer == claimed }
        let (bond, change) = peers.paired(peer, made, at: link.onAir.peer, isInUse: isInUse)
        if bond.identity.onAir != claimed { note(.unprovedIdentity(claimed, handle)) }
        guard apply(change, bond, of: handle, at: now) else { return false }
        pairings.bonded(with: peer, on: handle, bond.strength)
        return true
    }

    /// Returns the IDs of the users to whom a new bond belongs: the users of the apps that use the link, then those of
    /// the bond that is replaced.
    private func usersOfBond(with peer: PeerIdentifier, on handle: ConnectionHandle) -> [UInt32] {
        var users = apps(on: handle).users
        for user in peers.bond(with: peer)?.users ?? [] where !users.contains(user) { users.append(user) }
        return Array(users.prefix(Bond.mostUsers))
    }

    /// Removes the bond with a peer, which the app of `owner` may see.
    ///
    /// A link to the peer ends if it is encrypted or is being encrypted.
    mutating func removeBond(with peer: PeerIdentifier, for owner: ClientOwner, at now: Instant) {
        remember(peers.unbonded(peer, for: owner))
        forgetBond(with: peer, at: now)
        for handle in links.handles where links[handle]?.peer == peer && links[handle]?.encryption != LinkEncryption() {
            disconnect(handle, reason: .authenticationFailure, at: now)
        }
    }

    /// Makes the bond with a peer invalid on all links to the peer.
    ///
    /// On a link where the peer has not yet proved the bond, the waiting requests continue without the bond.
    mutating func forgetBond(with peer: PeerIdentifier, at now: Instant) {
        pairings.bondRemoved(with: peer, at: now)
        for handle in links.handles where links[handle]?.peer == peer {
            withLayers(at: now) { attributes, _ in attributes.unbonded(handle) }
            drainPairing(handle, at: now)
            guard links[handle]?.encryption == LinkEncryption(), links[handle]?.isClosing == false else { continue }
            answerSecurity(of: handle, .refused(nil), at: now)
        }
    }

    /// Records the strength of a link's key, and reports it to the agents.
    ///
    /// `isBonded` is true if the key is stored.
    mutating func secured(_ handle: ConnectionHandle, with strength: PairingStrength, isBonded: Bool) {
        let peer = links.update(handle) { link in
            link.secured(with: strength)
            return link.peer
        }
        if let peer { notifyAgents(.secured(peer, strength, isBonded: isBonded), of: handle) }
    }
}
