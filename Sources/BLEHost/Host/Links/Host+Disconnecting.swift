import BLEWire

// Ending of links. Data that this host has accepted are sent first.
extension Host {
    /// Ends a link if this host is the central and no client uses the link.
    mutating func disconnectIfUnused(_ link: ConnectionHandle, at now: Instant) {
        guard links[link]?.role == .central,
            !clientConnections.entries(on: link).contains(where: { $0.state.link != nil })
        else {
            return
        }
        release(link, at: now)
    }

    /// Ends the link to one of a client's centrals, unless another app uses the link.
    mutating func disconnectCentral(_ peer: PeerIdentifier, for client: ClientID, at now: Instant) {
        guard let link = link(of: client, toCentral: peer), !isShared(link, beyondAppOf: client) else {
            return note(.foreignCentral(client))
        }
        release(link, at: now)
    }

    /// Ends a link once all accepted data have been sent, or after a time limit.
    ///
    /// The host waits because a controller may end a link without sending the data that are still in its buffers.
    ///
    /// Core 6.0, Vol 4, Part E, 7.1.6.
    mutating func release(_ link: ConnectionHandle, at now: Instant) {
        guard let index = links.index(of: link), links.values[index].release(at: now) else { return }
        mayHaveReleased = true
    }

    /// Tells the controller to end a link, regardless of pending data.
    ///
    /// Has no effect if the controller has already been told.
    ///
    /// A failure, if given, is reported to the clients that still use the link.
    mutating func disconnect(
        _ link: ConnectionHandle,
        for failure: Failure? = nil,
        reason: HCI.Status = .remoteUserTerminatedConnection,
        at now: Instant
    ) {
        guard let index = links.index(of: link), links.values[index].close(for: failure, at: now) else { return }
        let command = HCI.Disconnect(handle: link, reason: reason)
        submit(.disconnect(command), for: .disconnection(link), at: now)
    }

    /// Tells the controller to end those released links that have nothing left to send.
    mutating func endDrainedLinks(at now: Instant) {
        guard mayHaveReleased else { return }
        mayHaveReleased = links.values.contains(where: \.isReleased)
        for index in 0..<links.count where links.values[index].isReleased {
            let link = links.handle(at: index)
            if scheduler.isIdle(link), !layers.areBusy(on: link) { disconnect(link, at: now) }
        }
    }
}

extension Host {
    /// Returns how long this host waits before it repeats a refused request for bearers.
    ///
    /// The peer may have refused the request because both ends requested bearers at the same time. To avoid another
    /// collision, a peripheral waits before it repeats its request, and a central does not.
    ///
    /// Core 6.0, Vol 3, Part G, 5.4.
    func bearerRetryDelay(on handle: ConnectionHandle) -> Duration {
        guard let link = links[handle], link.role == .peripheral else { return .zero }
        let interval = link.details.interval?.duration ?? .zero, latency = Int(link.details.latency?.wire ?? 0)
        return max(.milliseconds(100), interval * (2 * (latency + 1)))
    }
}
