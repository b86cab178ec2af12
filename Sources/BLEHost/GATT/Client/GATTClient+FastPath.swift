import BLEWire

// Fast paths: procedures with a single request, while nothing is queued.
extension GATTClient {
    /// Returns whether `client` can now send a write command with a value of `octets` octets.
    ///
    /// The client must be connected to the peer, the value must fit into a packet, nothing may be queued, and no
    /// procedure may be in progress on the unenhanced bearer.
    @inline(__always)
    mutating func mayCommandFast(_ client: ClientID, octets: Int) -> Bool {
        guard !bearers.all[0].isRunning, nothingIsQueued else { return false }
        return octets <= mtu - 3 && isAttached(client)
    }

    /// Records that the controller has accepted the packet with this receipt and all earlier ones.
    ///
    /// Call ``sent(_:at:into:)`` instead if write commands are waiting, because it also sends those.
    @inline(__always)
    mutating func sentFast(_ receipt: SendReceipt, into outbox: inout HostOutbox) {
        while let client = commands.nextTaken(upTo: receipt) {
            outbox.report(to: client, taken: .writeCommands(to: peer))
        }
    }

    /// Returns whether `client` can now send a read request, or a write request with a value of `octets` octets.
    @inline(__always)
    mutating func mayAskFast(_ client: ClientID, octets: Int) -> Bool {
        guard mayBeginFast else { return false }
        return octets <= mtu - 3 && isAttached(client)
    }

    /// Records that a client's request is being sent, after ``mayAskFast(_:octets:)`` has returned `true`.
    ///
    /// The request discovers nothing, so the known attributes do not change.
    @inline(__always)
    mutating func beginFast(
        _ request: ATT.Opcode,
        of handle: AttributeHandle,
        writing value: [UInt8],
        for requester: Requester,
        at now: Instant
    ) {
        let single = SingleRequest(
            requester: requester,
            order: answers.next(),
            handle: handle,
            isWrite: request == .writeRequest,
            security: trust.security,
            room: mtu - 1
        )
        bearers.all[0].begin(single, writing: value, request, at: now)
    }

    /// Processes the response to a request that was sent on the fast path.
    ///
    /// Returns `false`, without side effects, if ``receive(_:on:at:into:)`` has to process the packet instead.
    mutating func answerFast(
        _ packet: AttributePacket,
        in octets: Span<UInt8>,
        at now: Instant,
        into outbox: inout HostOutbox
    ) -> Bool {
        guard nothingIsQueued, let single = bearers.all[0].answered(packet.kind, octets: packet.parameterCount) else {
            return false
        }
        ownRequests.postpone(at: now)
        if single.isWrite {
            let event = ClientEvent.peer(peer, .valueWritten(single.handle, nil), answering: single.requester.number)
            outbox.append(.event(event, for: single.requester.client))
        } else {
            let value = outbox.copy(packet.value(in: octets, droppingFirst: 0))
            let told = PeerEvent.valueRead(single.handle, .success(value))
            let event = ClientEvent.peer(peer, told, answering: single.requester.number)
            outbox.append(.event(event, for: single.requester.client))
        }
        return true
    }

    /// Delivers a notified value to its subscribers.
    ///
    /// Returns `false`, without side effects, if there are none, or if the packet is malformed or too long.
    mutating func deliverFast(
        _ packet: AttributePacket,
        in octets: Span<UInt8>,
        into outbox: inout HostOutbox
    ) -> Bool {
        guard packet.parameterCount <= 2 + ATT.maximumValueLength, let handle = packet.attribute(in: octets),
            let entry = subscriptions.entryWithReceivers(handle)
        else { return false }
        let value = outbox.copy(packet.value(in: octets, droppingFirst: 2))
        if let client = subscriptions.onlyReceiver(in: entry) {
            outbox.append(.event(.peer(peer, .valueNotified(handle, value)), for: client))
        } else {
            subscriptions.forEachReceiver(in: entry) { client in
                outbox.append(.event(.peer(peer, .valueNotified(handle, value)), for: client))
            }
        }
        return true
    }
}
