import BLEWire

extension GATTClient {
    /// Processes a packet from the peer's server: a response, notification or indication.
    mutating func receive(
        _ packet: ATTPacket,
        on bearer: BearerID,
        at now: Instant,
        into outbox: inout Outbox
    ) {
        switch packet {
        case .notification(let notification): deliver(notification.value, of: notification.handle, into: &outbox)
        case .multipleNotification(let notification):
            for entry in notification.entries { deliver(entry.value, of: entry.handle, into: &outbox) }
        case .indication(let indication):
            outbox.send(.confirmation, on: bearer, of: link)
            if indication.handle == serviceChanged {
                servicesChanged(value: indication.value, at: now, into: &outbox)
            } else {
                deliver(indication.value, of: indication.handle, into: &outbox)
            }
            proceed(at: now, into: &outbox)
        default:
            guard let index = bearers.index(of: bearer) else { return }
            proceed(with: bearers.all[index].receive(packet), on: index, at: now, into: &outbox)
        }
    }

    /// Processes a malformed packet from the peer's server.
    ///
    /// Only its opcode could be decoded.
    mutating func receiveMalformed(
        _ pdu: Span<UInt8>,
        on bearer: BearerID,
        at now: Instant,
        into outbox: inout Outbox
    ) {
        // A malformed indication needs a confirmation as well; otherwise the peer could not send another one.
        if ATT.Opcode(wire: pdu[0]) == .handleValueIndication {
            outbox.send(.confirmation, on: bearer, of: link)
        }
        guard let index = bearers.index(of: bearer) else { return }
        let event = bearers.all[index].receiveMalformed(pdu)
        if event != .ignored { proceed(with: event, on: index, at: now, into: &outbox) }
    }

    /// Delivers a value from the peer to the subscribed clients.
    ///
    /// A value that is longer than the maximum length of an attribute is truncated.
    ///
    /// Core 6.0, Vol 3, Part F, 3.2.9.
    private func deliver(_ value: [UInt8], of handle: AttributeHandle, into outbox: inout Outbox) {
        var value = value, isWanted = false
        if value.count > ATT.maximumValueLength {
            value.removeLast(value.count - ATT.maximumValueLength)
            outbox.append(.note(.oversizedValue(handle, link)))
        }
        subscriptions.forEachReceiver(of: handle) { client in
            isWanted = true
            outbox.report(to: client, .peer(peer, .valueNotified(handle, value)))
        }
        if !isWanted { outbox.append(.note(.unwantedValue(handle, link))) }
    }

    /// Processes the peer's MTU request and returns the response.
    ///
    /// When the response has been sent, the caller must pass the event to ``negotiated(_:at:into:)``.
    mutating func receiveOffer(_ request: ATT.ExchangeMTURequest) -> (event: MTUNegotiation.OnEvent, ATTPacket) {
        (negotiation.receiveRequest(clientMTU: request.clientMTU), negotiation.response)
    }

    /// Processes the response to this host's MTU request; `serverMTU` is `nil` if the peer rejected it.
    mutating func receiveOffer(serverMTU: UInt16?, at now: Instant, into outbox: inout Outbox) {
        negotiated(negotiation.receiveAnswer(serverMTU: serverMTU), at: now, into: &outbox)
    }

    /// Reports that the MTU is settled or has changed.
    mutating func negotiated(_ event: MTUNegotiation.OnEvent, at now: Instant, into outbox: inout Outbox) {
        switch event {
        case .nothing: break
        case .settled:
            ownRequests.allow(at: now)
            outbox.append(.mtuSettled(link, mtu))
        case .changed: reportToAll(.mtuChanged(mtu), through: &outbox)
        }
    }

    /// Carries out everything that is due.
    mutating func wake(at now: Instant, into outbox: inout Outbox) {
        expireBearers(at: now, into: &outbox)
        negotiated(negotiation.expire(at: now), at: now, into: &outbox)
        proceed(at: now, into: &outbox)
    }
}
