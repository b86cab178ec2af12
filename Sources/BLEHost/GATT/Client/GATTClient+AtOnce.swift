import BLEWire

// What one packet is enough for, while nobody waits for anything else: neither queue nor procedure is needed then.
extension GATTClient {
    /// Whether a value without response may be sent past all that waits but for others of its kind.
    @inline(__always)
    mutating func mayCommandAtOnce(_ client: ClientID, octets: Int) -> Bool {
        guard !bearers.all[0].isRunning, nobodyWaits else { return false }
        return octets <= mtu - 3 && isAttached(client)
    }

    /// Notes that the controller has taken this packet, and with it all that were handed down before.
    @inline(__always)
    mutating func sentAtOnce(_ receipt: SendReceipt, into outbox: inout HostOutbox) {
        while let client = commands.nextTaken(upTo: receipt) { outbox.tell(client, taken: .writeCommands(to: peer)) }
    }

    /// Whether a request that one packet asks may be sent.
    @inline(__always)
    mutating func mayAskAtOnce(_ client: ClientID, octets: Int) -> Bool {
        guard mayBeginAtOnce else { return false }
        return octets <= mtu - 3 && isAttached(client)
    }

    /// Notes that a client's request is sent now, for which ``mayAskAtOnce(_:octets:)`` holds.
    ///
    /// Nothing is learnt of the peer's attributes from it, so that what is known of them is left as it is.
    @inline(__always)
    mutating func beginAtOnce(
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

    /// Takes the response to a request that was sent at once; `false`, and nothing has happened, if it takes more to
    /// deal with it.
    mutating func answerAtOnce(
        _ packet: AttributePacket,
        in octets: Span<UInt8>,
        at now: Instant,
        into outbox: inout HostOutbox
    ) -> Bool {
        guard nobodyWaits, let single = bearers.all[0].answered(packet.kind, octets: packet.parameterCount) else {
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

    /// Hands a value that the peer notified to those who subscribed; `false`, and nothing has happened, if nobody did.
    mutating func deliverAtOnce(
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
