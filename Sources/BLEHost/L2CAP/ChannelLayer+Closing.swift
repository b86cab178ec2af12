import BLEWire

// How channels end.
extension ChannelLayer {
    /// Whether a link has channels that this end closes and that are not closed yet, or on which something waits to be
    /// sent.
    func isBusy(on link: ConnectionHandle) -> Bool {
        links[link]?.channels.contains { !$0.isOpen || !$0.outgoing.isEmpty } ?? false
    }

    /// Ends a channel at once on account of this end; its owner hears why.
    mutating func abandon(_ index: Int, _ failure: Failure?, on handle: ConnectionHandle, at now: Instant) {
        guard let link = links.index(of: handle) else { return }
        tell(links.values[link].channels[index].owner, of: links.values[link].channels[index].id, .closed(failure))
        if links.values[link].channels[index].abandon() == .disconnect { askToClose(index, on: handle, at: now) }
    }

    /// Asks the peer to close a channel.
    ///
    /// Core 6.0, Vol 3, Part A, 4.6.
    mutating func askToClose(_ index: Int, on handle: ConnectionHandle, at now: Instant) {
        guard let link = links.index(of: handle) else { return }
        let channel = links.values[link].channels[index]
        outbox.append(.discard(channel.remote, of: handle))
        let identifier = links.values[link].exchange.begin(.disconnect(channel.id), at: now)
        let request = Signal.DisconnectionRequest(destination: channel.remote, source: channel.local)
        send(.disconnectionRequest(request), identifier, on: handle)
    }

    /// The peer closes a channel.
    ///
    /// One that there is not is rejected; one whose other end has another name is no channel of this peer, and nothing
    /// is said.
    ///
    /// Core 6.0, Vol 3, Part A, 4.6.
    mutating func close(
        _ request: Signal.DisconnectionRequest,
        _ identifier: SignalIdentifier,
        on handle: ConnectionHandle
    ) {
        guard let link = links.index(of: handle) else { return }
        guard let index = links.values[link].index(local: request.destination) else {
            let rejection = Signal.CommandReject.invalidChannel(local: request.destination, remote: request.source)
            return send(.commandReject(rejection), identifier, on: handle)
        }
        guard links.values[link].channels[index].remote == request.source else {
            return outbox.append(.note(.unknownChannel(request.source, handle)))
        }
        let response = Signal.DisconnectionResponse(destination: request.destination, source: request.source)
        send(.disconnectionResponse(response), identifier, on: handle)
        discard(index, nil, on: handle)
    }

    /// The peer has closed a channel, as it was asked.
    ///
    /// Core 6.0, Vol 3, Part A, 4.7.
    mutating func closed(
        _ response: Signal.DisconnectionResponse,
        _ identifier: SignalIdentifier,
        on handle: ConnectionHandle
    ) {
        guard let link = links.index(of: handle) else { return }
        let channel = links.values[link].index(local: response.source).map { links.values[link].channels[$0] }
        guard let channel, channel.remote == response.destination else { return stray(on: handle) }
        let request = links.values[link].exchange.finish(identifier) { $0 == .disconnect(channel.id) }
        guard request != nil else { return stray(on: handle) }
        forget(channel.id)
    }

    /// Forgets a channel of which the peer wants to hear no more; its owner hears why.
    mutating func discard(_ index: Int, _ failure: Failure?, on handle: ConnectionHandle) {
        guard let link = links.index(of: handle) else { return }
        let channel = links.values[link].channels[index]
        outbox.append(.discard(channel.remote, of: handle))
        tell(channel.owner, of: channel.id, .closed(failure))
        forget(channel.id)
    }
}
