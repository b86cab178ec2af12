package import BLEWire

extension AttributeLayer {
    /// Processes an ATT packet that arrived on a bearer: the payload of a packet on channel 0x0004, or an SDU of an
    /// enhanced bearer.
    package mutating func receive(
        _ pdu: Span<UInt8>,
        on link: ConnectionHandle,
        _ bearer: BearerID = .unenhanced,
        at now: Instant
    ) {
        guard let position = position(of: bearer, on: link) else { return outbox.append(.note(.unknownLink(link))) }
        let packet: ATTPacket
        do { packet = try ATTPacket(decoding: pdu) } catch {
            return receiveMalformed(pdu, error, at: position, now)
        }
        switch packet.direction {
        case .toClient:
            let mtu = links[position.link].mtu
            links[position.link].client.receive(packet, on: bearer, at: now, into: &outbox)
            if links[position.link].mtu != mtu { announceSize(at: position.link) }
        case .toServer: serve(packet, at: position, now)
        }
    }

    /// Processes a malformed packet, and responds if the packet may be a request.
    private mutating func receiveMalformed(
        _ pdu: Span<UInt8>,
        _ error: PacketError,
        at position: BearerPosition,
        _ now: Instant
    ) {
        outbox.append(.note(.dropped(error, .channel(.attribute, links[position.link].handle))))
        guard !pdu.isEmpty else { return }
        let opcode = ATT.Opcode(wire: pdu[0])
        if opcode.isCommand { return }
        if case .unknown = error { return receive(.unacceptable(opcode, .requestNotSupported), at: position, now) }
        if opcode.response != nil { return receive(.unacceptable(opcode, .invalidPDU), at: position, now) }
        links[position.link].client.receiveMalformed(
            pdu,
            on: links[position.link].server.bearers[position.bearer].id,
            at: now,
            into: &outbox
        )
    }
}

extension ATTPacket {
    fileprivate enum Direction {
        case toServer, toClient
    }

    /// The part of the host, GATT server or GATT client, that processes the packet.
    fileprivate var direction: Direction {
        switch self {
        case .exchangeMTURequest, .findInformationRequest, .findByTypeValueRequest, .readByTypeRequest, .readRequest,
            .readBlobRequest, .readMultipleRequest, .readByGroupTypeRequest, .writeRequest, .prepareWriteRequest,
            .executeWriteRequest, .readMultipleVariableRequest, .writeCommand, .signedWriteCommand, .confirmation:
            .toServer
        case .errorResponse, .exchangeMTUResponse, .findInformationResponse, .findByTypeValueResponse,
            .readByTypeResponse, .readResponse, .readBlobResponse, .readMultipleResponse, .readByGroupTypeResponse,
            .writeResponse, .prepareWriteResponse, .executeWriteResponse, .notification, .indication,
            .readMultipleVariableResponse, .multipleNotification:
            .toClient
        }
    }
}

extension AttributeLayer {
    /// Records that a client is connected to the peer of a link.
    ///
    /// The client can then make requests to the peer, and receives the peer's events.
    package mutating func attach(_ client: ClientID, to link: ConnectionHandle) {
        guard let index = index(of: link) else { return outbox.append(.note(.unknownLink(link))) }
        links[index].client.attach(client)
    }

    /// Records that a client is no longer connected to the peer of a link.
    ///
    /// The client's pending requests fail, and its subscriptions end. The subscriptions of other clients are not
    /// affected.
    package mutating func detach(_ client: ClientID, from link: ConnectionHandle, at now: Instant) {
        guard let index = index(of: link) else { return }
        links[index].client.detach(client, at: now, into: &outbox)
    }

    /// Returns the MTU of a link, in octets; `nil` if there is no such link.
    package func mtu(of link: ConnectionHandle) -> Int? { index(of: link).map { links[$0].mtu } }

    /// Returns when clients last stopped making requests on a link, as in ``IdleGate/idleSince``; `nil` if a request is
    /// waiting or in progress, if the link is not ready, or if there is no such link.
    func quietSince(on link: ConnectionHandle) -> Instant? { index(of: link).flatMap { links[$0].client.quietSince } }

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
