package import BLEWire

extension AttributeLayer {
    /// Records that the peer of a link has proven a bond, or has just been bonded.
    ///
    /// What is stored of the peer is valid from now on, and so is what the peer has configured on this link before.
    /// ``Output/bondChanged(_:_:)`` reports every change.
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

    /// Records that there is no bond with the peer of a link any more: its stored data are neither changed nor saved.
    package mutating func unbonded(_ link: ConnectionHandle) {
        guard let index = index(of: link) else { return outbox.append(.note(.unknownLink(link))) }
        links[index].client.unbond()
    }

    /// Sets the security of a link.
    ///
    /// `keySize` is the size of the key in octets, if there is one.
    package mutating func secure(_ link: ConnectionHandle, _ security: LinkSecurity, keySize: Int = 16) {
        guard let index = index(of: link) else { return outbox.append(.note(.unknownLink(link))) }
        links[index].client.secure(security, keySize: keySize, leastKeySize: configuration.leastKeySize)
    }

    /// Returns the trust in a link; `nil` if there is no such link.
    package mutating func trust(of link: ConnectionHandle) -> LinkTrust? {
        index(of: link).map { links[$0].client.trust }
    }

    /// Answers ``Output/secure(_:for:)``, or ends the wait for the proof of a bond.
    package mutating func securityAnswered(_ link: ConnectionHandle, _ answer: SecurityAnswer, at now: Instant) {
        guard let index = index(of: link) else { return outbox.append(.note(.unknownLink(link))) }
        links[index].client.securityAnswered(answer, at: now, into: &outbox)
    }

    /// Grants or revokes the authorization of a link's peer.
    package mutating func authorize(_ link: ConnectionHandle, _ isAuthorized: Bool = true) {
        guard let index = index(of: link) else { return outbox.append(.note(.unknownLink(link))) }
        links[index].client.authorize(isAuthorized)
    }

    /// Changes the stored data of a bonded peer.
    mutating func changeBond(at index: Int, _ body: (inout Bond) -> Void) {
        let peer = links[index].peer
        links[index].client.bond.change(of: peer, into: &outbox, body)
    }
}
