import BLEWire

// The bearers of links: the unenhanced one, which always exists, and the enhanced ones, which are opened and closed.
extension AttributeLayer {
    /// The position of a bearer in ``AttributeLayer/links``.
    struct BearerPosition {
        let link: Int
        /// The index among the bearers of the link; 0 is the unenhanced bearer.
        var bearer = 0
    }

    /// Returns the positions of a link's bearers.
    func places(at index: Int) -> [BearerPosition] {
        links[index].server.bearers.indices.map { BearerPosition(link: index, bearer: $0) }
    }

    /// The positions of all bearers.
    var places: [BearerPosition] { links.indices.flatMap { places(at: $0) } }

    func place(of bearer: BearerID, on link: ConnectionHandle) -> BearerPosition? {
        guard let index = index(of: link),
            let position = links[index].server.bearers.firstIndex(where: { $0.id == bearer })
        else { return nil }
        return BearerPosition(link: index, bearer: position)
    }

    /// Returns the bearer to send the values of a characteristic on.
    mutating func place(forValuesOf handle: AttributeHandle, at index: Int) -> BearerPosition {
        BearerPosition(link: index, bearer: links[index].route(handle))
    }

    /// Returns the MTU of a bearer, in octets.
    mutating func mtu(at place: BearerPosition) -> Int { links[place.link].mtu(at: place.bearer) }

    /// Processes an event from the channels that serve as bearers of a link.
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
            links[index].client.follow(action, into: &outbox)
        case .mtuChanged(let channel, let mtu):
            if let place = place(of: .enhanced(channel), on: link) {
                links[place.link].server.bearers[place.bearer].resize(to: mtu)
            }
            links[index].client.resized(channel, mtu: mtu)
        case .channel(let channel, .received(let pdu)):
            outbox.append(.bearer(.channel(channel, .consumed(pdu.count)), of: link))
            receive(pdu.span, on: link, .enhanced(channel), at: now)
        case .channel(let channel, .sent):
            guard let place = place(of: .enhanced(channel), on: link), let receipt = outbox.sent(on: channel) else {
                return
            }
            sentUpdates(upTo: receipt, at: place)
        case .channel(_, .resized): break
        case .channel(let channel, .closed):
            guard let place = place(of: .enhanced(channel), on: link) else { return }
            closed(place, at: now)
            links[index].client.closed(channel, at: now, into: &outbox)
        }
    }

    /// Removes a bearer that was closed.
    ///
    /// Queued values move to the unenhanced bearer. Requests that arrived on the closed bearer need no response.
    private mutating func closed(_ place: BearerPosition, at now: Instant) {
        countPacketsAsSent(at: place)
        let values = links[place.link].server.bearers[place.bearer].updates.removeValues(),
            indications = links[place.link].server.bearers[place.bearer].indications.removeValues()
        forget(links[place.link].server.bearers[place.bearer].id)
        links[place.link].server.bearers.remove(at: place.bearer)
        let fallback = BearerPosition(link: place.link)
        for value in values {
            links[place.link].server.returnRoute(of: value.handle)
            notify(value.value, of: value.handle, value.number, at: fallback)
        }
        for item in indications {
            links[place.link].server.returnRoute(of: item.handle)
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
    mutating func closeBearer(at place: BearerPosition, at now: Instant) {
        switch links[place.link].server.bearers[place.bearer].id {
        case .unenhanced: outbox.append(.abandon(links[place.link].handle))
        case .enhanced(let channel):
            outbox.append(.bearer(.channel(channel, .close), of: links[place.link].handle))
        }
    }
}
