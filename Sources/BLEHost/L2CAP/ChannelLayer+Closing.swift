import BLEWire

// Closing of channels.
extension ChannelLayer {
    /// Returns whether a link has channels that are being closed or that still have data to send.
    func isBusy(on link: ConnectionHandle) -> Bool {
        links[link]?.channels.contains { !$0.isOpen || !$0.outgoing.isEmpty } ?? false
    }

    /// Closes a channel immediately, on this host's initiative.
    ///
    /// The channel's owner gets `failure` as the reason; `failure` is `nil` only if the channel has no owner.
    mutating func abandon(_ index: Int, _ failure: Failure?, on handle: ConnectionHandle, at now: Instant) {
        guard let link = links.index(of: handle) else { return }
        report(
            to: links.values[link].channels[index].owner,
            of: links.values[link].channels[index].id,
            .closed(failure)
        )
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

    /// Closes a channel at the peer's request.
    ///
    /// A request for an unknown channel is rejected. A request with a wrong remote identifier is ignored.
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

    /// Processes the peer's confirmation that it has closed a channel at this host's request.
    ///
    /// Core 6.0, Vol 3, Part A, 4.7.
    mutating func closed(
        _ response: Signal.DisconnectionResponse,
        _ identifier: SignalIdentifier,
        on handle: ConnectionHandle
    ) {
        guard let link = links.index(of: handle) else { return }
        let channel = links.values[link].index(local: response.source).map { links.values[link].channels[$0] }
        guard let channel, channel.remote == response.destination else { return ignoreLateResponse(on: handle) }
        let request = links.values[link].exchange.finish(identifier) { $0 == .disconnect(channel.id) }
        guard request != nil else { return ignoreLateResponse(on: handle) }
        forget(channel.id)
    }

    /// Removes a channel immediately, without asking the peer to close it.
    ///
    /// The channel's owner gets `failure` as the reason; `failure` is `nil` if the peer closed the channel.
    mutating func discard(_ index: Int, _ failure: Failure?, on handle: ConnectionHandle) {
        guard let link = links.index(of: handle) else { return }
        let channel = links.values[link].channels[index]
        outbox.append(.discard(channel.remote, of: handle))
        report(to: channel.owner, of: channel.id, .closed(failure))
        forget(channel.id)
    }
}
