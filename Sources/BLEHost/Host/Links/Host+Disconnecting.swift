import BLEWire

// How a link ends on account of this host: what was accepted for it goes out first.
extension Host {
    /// Ends an unused link on which this host is the central.
    mutating func disconnectIfUnused(_ link: ConnectionHandle, at now: Instant) {
        guard links[link]?.role == .central, !attachments.on(link).contains(where: { $0.state.link != nil }) else {
            return
        }
        release(link, at: now)
    }

    /// Ends the link to a central of a client, unless another app uses it.
    mutating func dismiss(_ peer: PeerIdentifier, for client: ClientID, at now: Instant) {
        guard let link = link(of: client, toCentral: peer), !isShared(link, beyondAppOf: client) else {
            return note(.foreignCentral(client))
        }
        release(link, at: now)
    }

    /// Ends a link when all accepted data were sent, or after a time limit.
    ///
    /// A controller need not send the data it has before it ends a link.
    ///
    /// Core 6.0, Vol 4, Part E, 7.1.6.
    mutating func release(_ link: ConnectionHandle, at now: Instant) {
        guard let index = links.index(of: link), links.values[index].part(at: now) else { return }
        hasParting = true
    }

    /// Requests the end of a link from the controller, once, regardless of pending data.
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

    /// Requests the end of the links that were released and have nothing left to send.
    mutating func endParted(at now: Instant) {
        guard hasParting else { return }
        hasParting = links.values.contains(where: \.isParting)
        for index in 0..<links.count where links.values[index].isParting {
            let link = links.handle(at: index)
            if scheduler.isIdle(link), !layers.areBusy(on: link) { disconnect(link, at: now) }
        }
    }
}
