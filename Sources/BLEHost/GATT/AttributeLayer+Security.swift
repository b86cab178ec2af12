package import BLEWire

extension AttributeLayer {
    /// Records that the peer of a link has proven a bond, or has just been bonded.
    ///
    /// From now on, the stored data of the peer applies, and what the peer has configured on this link is stored, too.
    /// ``Output/bondChanged(_:_:)`` reports every change of the stored data.
    package mutating func bonded(_ link: ConnectionHandle, _ bond: Bond, at now: Instant) {
        guard let index = index(of: link) else { return outbox.append(.note(.unknownLink(link))) }
        links[index].client.prove(bond)
        database.refreshHash()
        if let hash = bond.client.databaseHash {
            restore(bond.client, isCurrent: hash == database.hash, at: index, now)
        }
        rememberClient(at: index)
        links[index].client.bonded(bond.database, at: now, into: &outbox)
    }

    /// Records that the bond with the peer of a link no longer exists.
    ///
    /// The layer drops the peer's stored data, and no longer reports changes to it.
    package mutating func unbonded(_ link: ConnectionHandle) {
        guard let index = index(of: link) else { return outbox.append(.note(.unknownLink(link))) }
        links[index].client.unbond()
    }

    /// Sets the strength of the key with which a link is encrypted; `nil` if the link is not encrypted.
    package mutating func secure(_ link: ConnectionHandle, _ strength: PairingStrength?) {
        guard let index = index(of: link) else { return outbox.append(.note(.unknownLink(link))) }
        links[index].client.secure(strength, leastKeySize: configuration.leastKeySize)
    }

    /// Returns the security and authorization of a link; `nil` if there is no such link.
    package mutating func trust(of link: ConnectionHandle) -> LinkTrust? {
        index(of: link).map { links[$0].client.trust }
    }

    /// Ends the wait for a more secure link (``Output/secure(_:for:)``), or for the peer to prove its bond.
    ///
    /// If `answer` is a refusal, the requests that the peer had rejected because of insufficient security fail. All
    /// other waiting requests continue.
    package mutating func securityAnswered(_ link: ConnectionHandle, _ answer: SecurityAnswer, at now: Instant) {
        guard let index = index(of: link) else { return outbox.append(.note(.unknownLink(link))) }
        links[index].client.securityAnswered(answer, at: now, into: &outbox)
    }

    /// Grants or revokes the authorization of a link's peer.
    package mutating func authorize(_ link: ConnectionHandle, _ isAuthorized: Bool = true) {
        guard let index = index(of: link) else { return outbox.append(.note(.unknownLink(link))) }
        links[index].client.authorize(isAuthorized)
    }

    /// Changes the stored data of the peer of the link at `index`, and reports the new data.
    ///
    /// Has no effect if no data is stored for the peer.
    mutating func changeBond(at index: Int, _ body: (inout Bond) -> Void) {
        let peer = links[index].peer
        links[index].client.bond.change(of: peer, into: &outbox, body)
    }
}
