import BLEWire

/// The layers above the link: attributes and channels.
///
/// Each layer returns its actions through `next()`. A caller changes the layers with ``Host/withLayers(at:_:)``, which
/// carries out the resulting actions, or with ``withAttributes(_:)`` if the change leaves no actions.
struct HostLayers {
    fileprivate(set) var attributes: AttributeLayer
    fileprivate(set) var channels: ChannelLayer
    /// True while the host carries out actions of the layers.
    fileprivate var isDraining = false

    init(_ attributes: AttributeLayer, _ channels: ChannelLayer) {
        (self.attributes, self.channels) = (attributes, channels)
    }

    /// The time at which the layers must be woken.
    ///
    /// `mutating` to avoid a copy.
    var deadline: Instant? {
        mutating get {
            var least = attributes.deadline
            least.bringForward(to: channels.deadline)
            return least
        }
    }

    /// Returns whether a layer has something to send on a link.
    func areBusy(on link: ConnectionHandle) -> Bool { channels.isBusy(on: link) || attributes.holdsValues(of: link) }

    /// Calls `body` with the attribute layer.
    ///
    /// `body` must not leave any actions in the layer.
    @inline(__always)
    mutating func withAttributes<Result>(_ body: (inout AttributeLayer) -> Result) -> Result { body(&attributes) }
}

extension Host {
    /// Calls `body` with the layers, then immediately carries out the resulting actions.
    ///
    /// If the host is already carrying out actions, the resulting actions follow the earlier ones.
    mutating func withLayers<Result>(
        at now: Instant,
        _ body: (inout AttributeLayer, inout ChannelLayer) -> Result
    ) -> Result {
        let result = body(&layers.attributes, &layers.channels)
        if !layers.isDraining { drain(at: now) }
        return result
    }

    /// Records that the controller has taken the packet with this receipt.
    mutating func sent(_ receipt: SendReceipt, at now: Instant) {
        if !layers.isDraining, layers.attributes.sentFast(receipt, into: &outbox) { return }
        withLayers(at: now) { attributes, channels in
            if let channel = receipt.channel {
                channels.sent(channel, at: now)
            } else {
                attributes.sent(receipt, at: now)
            }
        }
    }

    /// Carries out the layers' actions in order.
    private mutating func drain(at now: Instant) {
        layers.isDraining = true
        defer { layers.isDraining = false }
        while true {
            drainAttributes(at: now)
            guard let output = layers.channels.next() else { return }
            switch output {
            case .send(let payload, let channel, let link, let receipt):
                send(OutgoingPayload(payload), on: channel, of: link, receipt: receipt, at: now)
            case .discard(let channel, let link): scheduler.discard(channel, of: link)
            case .event(let event, let client): report(to: client, event)
            case .accepted(let channel, let client, let link):
                guard let peer = links[link]?.peer else { continue }
                if layers.attributes.noteUse(of: client, on: link) { centralUsed(client) }
                let central = RemoteCentral(peer: peer, mtu: parameters(of: link, to: peer).mtu)
                report(to: client, .server(.channelOpened(channel, by: central)))
            case .bearer(let event, let link):
                layers.attributes.receive(event, on: link, retryDelay: bearerRetryDelay(on: link), at: now)
            case .secure(let link, _): raiseSecurity(of: link, at: now)
            case .parametersRequested(let request, let identifier, let link):
                answer(request, identifier, on: link, at: now)
            case .note(let note): self.note(note)
            }
        }
    }

    /// Carries out the attribute layer's actions.
    private mutating func drainAttributes(at now: Instant) {
        while let output = layers.attributes.next() {
            switch output {
            case .send(let pdu, let link, let receipt):
                // A dropped packet counts as sent, so that no client waits for it indefinitely.
                if !send(pdu, on: .attribute, of: link, receipt: receipt, at: now), let receipt {
                    layers.attributes.sent(receipt, at: now)
                }
            case .bearer(.open(let count), let link):
                layers.channels.open(.enhancedATT, count: count, on: link, for: .attributes, at: now)
            case .bearer(.channel(let channel, let request), _):
                layers.channels.perform(request, on: channel, for: .attributes, at: now)
            case .event(let event, let client): report(to: client, event)
            case .used(let client): centralUsed(client)
            case .mtuSettled(let link, _): mtuSettled(on: link, at: now)
            case .abandon(let link):
                note(.transactionTimedOut(link))
                disconnect(link, for: .timedOut, at: now)
            case .nameRead(let peer, let name):
                remember(peers.read(name, from: peer))
                announceLinks()
            case .servicesKnown(let peer, let services): found(services, on: peer)
            case .bondChanged(let peer, let bond):
                // The peer may have paired again over another link.
                guard peers.bond(with: peer)?.isOfSamePairing(as: bond) == true else { continue }
                remember(peers.bonded(peer, bond))
            case .secure(let link, _): raiseSecurity(of: link, at: now)
            case .confirmed: break
            case .note(let note): self.note(note)
            }
        }
    }

    /// Sends or queues a packet on a channel; returns `false` if the packet had to be dropped.
    @discardableResult
    mutating func send(
        _ payload: OutgoingPayload,
        on channel: ChannelIdentifier,
        of link: ConnectionHandle,
        receipt: SendReceipt? = nil,
        at now: Instant
    ) -> Bool {
        switch scheduler.submit(payload, on: channel, of: link, receipt: receipt) {
        case .passed:
            outbox.send(payload, on: channel, of: link)
            if let receipt { sent(receipt, at: now) }
            return true
        case .queued: return true
        case .noLink: note(.unknownLink(link))
        case .limitReached: note(.limitReached(.queuedFrames(link)))
        }
        return false
    }
}
