package import BLEWire

// What is known of who is at the other end of a link, and of how the link is protected.
extension Host {
    /// Says how far a link can be trusted from now on; `keySize` is the length of the key in octets, if there is one.
    package mutating func secure(
        _ link: ConnectionHandle,
        _ security: LinkSecurity,
        keySize: Int = 16,
        at now: Instant
    ) {
        trust(link, security, keySize: keySize, at: now)
        proceed(at: now)
    }

    /// Trusts a link as far as this from now on.
    mutating func trust(_ link: ConnectionHandle, _ security: LinkSecurity, keySize: Int, at now: Instant) {
        guard let index = links.index(of: link) else { return note(.unknownLink(link)) }
        withLayers(at: now) { attributes, _ in attributes.secure(link, security, keySize: keySize) }
        if links.values[index].control.trust(security) == .announce { announceDetails(of: link) }
    }

    /// Lets the peer of a link do what needs an authorisation, or no more.
    package mutating func authorize(_ link: ConnectionHandle, _ isAuthorized: Bool = true, at now: Instant) {
        guard links[link] != nil else { return note(.unknownLink(link)) }
        withLayers(at: now) { attributes, _ in attributes.authorize(link, isAuthorized) }
        proceed(at: now)
    }

    /// Says that this host is bonded with the peer of a link, or has just been: the bond is kept from now on, and what
    /// is kept with it counts on this link and on all that follow.
    package mutating func bonded(_ link: ConnectionHandle, _ bond: Bond, at now: Instant) {
        keep(bond, of: link, at: now)
        proceed(at: now)
    }

    /// Keeps the bond with the peer of a link, and has it count there.
    ///
    /// - Returns: `false` if there is no room for it.
    @discardableResult
    mutating func keep(_ bond: Bond, of link: ConnectionHandle, at now: Instant) -> Bool {
        guard let peer = links[link]?.peer else {
            note(.unknownLink(link))
            return false
        }
        return apply(peers.bonded(peer, bond), bond, of: link, at: now)
    }

    /// Stores a changed bond, and applies it to the link.
    ///
    /// - Returns: `false` if there was no room for it.
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
        return true
    }

    /// The link to a peer, in whichever role; `nil` if there is none, or if it is about to end.
    package func connection(to peer: PeerIdentifier) -> ConnectionHandle? { link(to: peer) }
}
