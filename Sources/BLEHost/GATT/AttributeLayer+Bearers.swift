import BLEWire

// The bearers of links: the unenhanced one, which always exists, and the enhanced ones, which are opened and closed.
extension AttributeLayer {
    /// The position of a bearer in ``AttributeLayer/links``.
    struct BearerPosition {
        let link: Int
        /// The index among the bearers of the link; 0 is the unenhanced bearer.
        var bearer = 0
    }

    /// Returns the positions of all bearers of the link at `index`.
    func positions(at index: Int) -> [BearerPosition] {
        links[index].server.bearers.indices.map { BearerPosition(link: index, bearer: $0) }
    }

    /// The positions of all bearers.
    var positions: [BearerPosition] { links.indices.flatMap { positions(at: $0) } }

    func position(of bearer: BearerID, on link: ConnectionHandle) -> BearerPosition? {
        guard let index = index(of: link),
            let position = links[index].server.bearers.firstIndex(where: { $0.id == bearer })
        else { return nil }
        return BearerPosition(link: index, bearer: position)
    }

    /// Returns the bearer on which the link at `index` sends the values of the characteristic with value handle
    /// `handle`.
    mutating func position(forValuesOf handle: AttributeHandle, at index: Int) -> BearerPosition {
        BearerPosition(link: index, bearer: links[index].chooseBearer(forValuesOf: handle))
    }

    /// Returns the MTU of a bearer, in octets.
    mutating func mtu(at position: BearerPosition) -> Int { links[position.link].mtu(at: position.bearer) }

    /// Processes an event about the enhanced bearers of a link.
    ///
    /// `retryDelay` is the time that this host has to wait before it may request bearers again; zero for a central.
    mutating func receive(
        _ event: BearerEvent,
        on link: ConnectionHandle,
        retryDelay: Duration = .zero,
        at now: Instant
    ) {
        // A link may end before its channels are reported as closed.
        guard let index = index(of: link) else { return }
        switch event {
        case .opened(let channel):
            let mtu = min(channel.incomingMTU, channel.outgoingMTU)
            let bearer = ServerBearer(.enhanced(channel.id), mtu: mtu, limits: configuration.limits)
            links[index].server.bearers.append(bearer)
            links[index].client.opened(channel.id, mtu: mtu, at: now, into: &outbox)
        case .refused(let failure):
            let action = links[index].client.opening.refused(failure, retryDelay: retryDelay, at: now)
            links[index].client.carryOut(action, into: &outbox)
        case .mtuChanged(let channel, let mtu):
            if let position = position(of: .enhanced(channel), on: link) {
                links[position.link].server.bearers[position.bearer].resize(to: mtu)
            }
            links[index].client.resized(channel, mtu: mtu)
        case .channel(let channel, .received(let pdu)):
            outbox.append(.bearer(.channel(channel, .consumed(pdu.count)), of: link))
            receive(pdu.span, on: link, .enhanced(channel), at: now)
        case .channel(let channel, .sent):
            guard let position = position(of: .enhanced(channel), on: link), let receipt = outbox.sent(on: channel)
            else {
                return
            }
            sentUpdates(upTo: receipt, at: position)
        case .channel(_, .resized): break
        case .channel(let channel, .closed):
            guard let position = position(of: .enhanced(channel), on: link) else { return }
            closed(position, at: now)
            links[index].client.closed(channel, at: now, into: &outbox)
        }
    }

    /// Removes a bearer that was closed.
    ///
    /// Queued values move to the unenhanced bearer. Requests that arrived on the closed bearer need no response.
    private mutating func closed(_ position: BearerPosition, at now: Instant) {
        countPacketsAsSent(at: position)
        let values = links[position.link].server.bearers[position.bearer].updates.removeValues(),
            indications = links[position.link].server.bearers[position.bearer].indications.removeValues()
        forget(links[position.link].server.bearers[position.bearer].id)
        links[position.link].server.bearers.remove(at: position.bearer)
        let fallback = BearerPosition(link: position.link)
        for value in values {
            links[position.link].server.useUnenhancedBearer(for: value.handle)
            if !hold(value, at: fallback) { notify(value.value, of: value.handle, value.number, at: fallback) }
        }
        for item in indications {
            links[position.link].server.useUnenhancedBearer(for: item.handle)
            submit(item, at: fallback, now)
        }
    }

    /// Drops the receipts of the packets that an enhanced bearer had not sent when it was closed.
    mutating func forget(_ bearer: BearerID) { if case .enhanced(let channel) = bearer { outbox.forget(channel) } }

    /// Closes a bearer whose transaction has timed out.
    ///
    /// The unenhanced bearer can only be closed by ending the link.
    ///
    /// Core 6.0, Vol 3, Part F, 3.3.3.
    mutating func closeBearer(at position: BearerPosition, at now: Instant) {
        switch links[position.link].server.bearers[position.bearer].id {
        case .unenhanced: outbox.append(.abandon(links[position.link].handle))
        case .enhanced(let channel):
            outbox.append(.bearer(.channel(channel, .close), of: links[position.link].handle))
        }
    }
}
