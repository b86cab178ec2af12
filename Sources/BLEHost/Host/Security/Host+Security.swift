package import BLEWire

// The security of links, the authorization of peers, and their bonds.
extension Host {
    /// Sets the strength of the key with which a link is encrypted; `nil` if the link is not encrypted.
    package mutating func secure(_ link: ConnectionHandle, _ strength: PairingStrength?, at now: Instant) {
        trust(link, strength, at: now)
        proceed(at: now)
    }

    /// Sets the strength of a link's key, and reports the security of the link to its clients if it has changed.
    ///
    /// `strength` is `nil` if the link is not encrypted.
    mutating func trust(_ link: ConnectionHandle, _ strength: PairingStrength?, at now: Instant) {
        guard let index = links.index(of: link) else { return note(.unknownLink(link)) }
        withLayers(at: now) { attributes, _ in attributes.secure(link, strength) }
        if links.values[index].control.securityChanged(to: strength?.security ?? .unencrypted) == .announce {
            announceDetails(of: link)
        }
    }

    /// Grants or revokes the authorization of a link's peer.
    package mutating func authorize(_ link: ConnectionHandle, _ isAuthorized: Bool = true, at now: Instant) {
        guard links[link] != nil else { return note(.unknownLink(link)) }
        withLayers(at: now) { attributes, _ in attributes.authorize(link, isAuthorized) }
        proceed(at: now)
    }

    /// Stores the bond with a link's peer; the bond is valid on this link and on later links to the peer.
    package mutating func bonded(_ link: ConnectionHandle, _ bond: Bond, at now: Instant) {
        store(bond, of: link, at: now)
        proceed(at: now)
    }

    /// Stores the bond with a link's peer, and makes it valid on the link.
    ///
    /// - Returns: `false` if there is no room for the bond.
    @discardableResult
    mutating func store(_ bond: Bond, of link: ConnectionHandle, at now: Instant) -> Bool {
        guard let peer = links[link]?.peer else {
            note(.unknownLink(link))
            return false
        }
        return apply(peers.bonded(peer, bond), bond, of: link, at: now)
    }

    /// Stores a new or changed bond by carrying out `change`, and makes the bond valid on the link.
    ///
    /// - Returns: `false` if there is no room for the bond.
    mutating func apply(
        _ change: PeerTable.OnChange,
        _ bond: Bond,
        of link: ConnectionHandle,
        at now: Instant
    ) -> Bool {
        guard change != .full else {
            note(.limitReached(.bonds))
            return false
        }
        remember(change)
        if case .replace(let other, _) = change { forgetBond(with: other.identifier, at: now) }
        withLayers(at: now) { attributes, _ in attributes.bonded(link, bond, at: now) }
        if let peer = links[link]?.peer { updateConnectionAddress(of: peer) }
        return true
    }

    /// Returns the link to a peer in either role; `nil` if there is no link, or if this host is ending it.
    package func connection(to peer: PeerIdentifier) -> ConnectionHandle? { link(to: peer) }
}
