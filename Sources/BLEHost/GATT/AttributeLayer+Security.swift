package import BLEWire

extension AttributeLayer {
    /// Says that the peer of a link is one that this host is bonded with, or has just been bonded with: it has shown
    /// that by the key of the bond.
    ///
    /// What was kept of it counts from now on, and so does what it did on this link before;
    /// ``Output/bondChanged(_:_:)`` tells of every change.
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

    /// Says that there is no bond with the peer of a link any more: what was kept of it is neither changed nor stored.
    package mutating func unbonded(_ link: ConnectionHandle) {
        guard let index = index(of: link) else { return outbox.append(.note(.unknownLink(link))) }
        links[index].client.unbond()
    }

    /// Says how far a link can be trusted from now on; `keySize` is the length of the key in octets, if there is one.
    package mutating func secure(_ link: ConnectionHandle, _ security: LinkSecurity, keySize: Int = 16) {
        guard let index = index(of: link) else { return outbox.append(.note(.unknownLink(link))) }
        links[index].client.secure(security, keySize: keySize, leastKeySize: configuration.leastKeySize)
    }

    /// How far a link can be trusted; `nil` if there is no such link.
    package mutating func trust(of link: ConnectionHandle) -> LinkTrust? {
        index(of: link).map { links[$0].client.trust }
    }

    /// Answers ``Output/secure(_:for:)``, or says that nobody has to wait any more for the proof of a bond.
    package mutating func securityAnswered(_ link: ConnectionHandle, _ answer: SecurityAnswer, at now: Instant) {
        guard let index = index(of: link) else { return outbox.append(.note(.unknownLink(link))) }
        links[index].client.securityAnswered(answer, at: now, into: &outbox)
    }

    /// Lets the peer of a link do what needs an authorisation, or no more.
    package mutating func authorize(_ link: ConnectionHandle, _ isAuthorized: Bool = true) {
        guard let index = index(of: link) else { return outbox.append(.note(.unknownLink(link))) }
        links[index].client.authorize(isAuthorized)
    }

    /// Changes what is kept of the peer of a link, if that is bonded.
    mutating func changeBond(at index: Int, _ body: (inout Bond) -> Void) {
        let peer = links[index].peer
        links[index].client.bond.change(of: peer, into: &outbox, body)
    }
}
