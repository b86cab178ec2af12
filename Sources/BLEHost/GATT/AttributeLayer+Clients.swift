package import BLEWire

extension AttributeLayer {
    /// Records that a client is connected to the peer of a link: it can make requests and receives the peer's events.
    package mutating func attach(_ client: ClientID, to link: ConnectionHandle) {
        guard let index = index(of: link) else { return outbox.append(.note(.unknownLink(link))) }
        links[index].client.attach(client)
    }

    /// Records that a client is no longer connected to the peer of a link.
    ///
    /// The client's pending requests fail. Its subscriptions end, except those that other clients share.
    package mutating func detach(_ client: ClientID, from link: ConnectionHandle, at now: Instant) {
        guard let index = index(of: link) else { return }
        links[index].client.detach(client, at: now, into: &outbox)
    }

    /// Returns the MTU of a link, in octets; `nil` if there is no such link.
    package func mtu(of link: ConnectionHandle) -> Int? { index(of: link).map { links[$0].mtu } }

    /// Carries out a client's request about the attributes of a peer.
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
