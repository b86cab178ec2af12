import BLEWire

// How a link ends on account of this host: what was accepted for it goes out first.
extension Host {
    /// Ends a link of which this host is the central and that nobody uses.
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

    /// Ends a link when all that was accepted for it has gone, or has had its time.
    ///
    /// A controller that is asked to end a link need not send what it has of it first.
    ///
    /// Core 6.0, Vol 4, Part E, 7.1.6.
    mutating func release(_ link: ConnectionHandle, at now: Instant) {
        guard let index = links.index(of: link), links.values[index].part(at: now) else { return }
        hasParting = true
    }

    /// Asks the controller to end a link, once, whatever waits.
    ///
    /// With a failure, that is what clients are told who still use the link.
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

    /// Asks the controller to end those links that somebody has ended and of which nothing is left to send.
    mutating func endParted(at now: Instant) {
        guard hasParting else { return }
        hasParting = links.values.contains(where: \.isParting)
        for index in 0..<links.count where links.values[index].isParting {
            let link = links.handle(at: index)
            if scheduler.isIdle(link), !layers.areBusy(on: link) { disconnect(link, at: now) }
        }
    }
}
