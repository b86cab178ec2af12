package import BLEWire

extension AttributeLayer {
    /// Notes that a client is connected to the peer of a link: it may ask, and hears of what the peer says by itself.
    package mutating func attach(_ client: ClientID, to link: ConnectionHandle) {
        guard let index = index(of: link) else { return outbox.append(.note(.unknownLink(link))) }
        links[index].client.attach(client)
    }

    /// Notes that a client is not connected to the peer of a link any more.
    ///
    /// What it waits for is answered, and what it subscribed to is turned off if nobody else wants it.
    package mutating func detach(_ client: ClientID, from link: ConnectionHandle, at now: Instant) {
        guard let index = index(of: link) else { return }
        links[index].client.detach(client, at: now, into: &outbox)
    }

    /// The largest ATT packet, in octets, that both ends of a link take; `nil` if there is no such link.
    package func mtu(of link: ConnectionHandle) -> Int? { index(of: link).map { links[$0].mtu } }

    /// Carries out what a client asks about the attributes of a peer.
    package mutating func perform(
        _ request: AttributeRequest,
        on link: ConnectionHandle,
        for requester: Requester,
        at now: Instant
    ) {
        guard let index = index(of: link) else { return outbox.append(.note(.unknownLink(link))) }
        guard links[index].client.isAttached(requester.client) else {
            return links[index].client.answer(request, of: requester, with: .notConnected, into: &outbox)
        }
        links[index].client.perform(request, for: requester, at: now, into: &outbox)
    }
}
