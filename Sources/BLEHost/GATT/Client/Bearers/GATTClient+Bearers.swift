import BLEWire

// The bearers beside the unenhanced one, over which clients read and write while others wait.
extension GATTClient {
    /// A bearer is open.
    mutating func opened(_ id: ChannelID, mtu: Int, at now: Instant, into outbox: inout Outbox) {
        bearers.open(id, mtu: mtu)
        opening.opened()
        proceed(at: now, into: &outbox)
    }

    /// Packets of a bearer may have another size from now on.
    mutating func resized(_ id: ChannelID, mtu: Int) {
        bearers.resize(id, mtu: mtu)
    }

    /// Goes on without a bearer: what was read on it is read on another, since nothing comes of reading twice, but
    /// nobody knows whether what was written on it has been.
    mutating func closed(_ id: ChannelID, at now: Instant, into outbox: inout Outbox) {
        if let lost = bearers.close(id) {
            if case .read = lost.procedure, lost.client != nil {
                stall(lost, into: &outbox)
            } else {
                fail(lost, with: .att(.unlikelyError), into: &outbox)
            }
        }
        proceed(at: now, into: &outbox)
    }

    /// Gives up bearers on which a transaction was not answered in time: with the unenhanced one goes the link, with
    /// any other nothing else.
    ///
    /// Core 6.0, Vol 3, Part F, 3.3.3.
    mutating func expireBearers(at now: Instant, into outbox: inout Outbox) {
        for index in bearers.indices {
            guard case .abandon = bearers.all[index].expire(at: now) else { continue }
            switch bearers.all[index].id {
            case .unenhanced:
                failAll(with: .timedOut, into: &outbox)
                outbox.append(.note(.transactionTimedOut(link)))
                outbox.append(.abandon(link))
            case .enhanced(let channel):
                outbox.append(.note(.transactionTimedOut(link)))
                outbox.append(.bearer(.channel(channel, .close), of: link))
                if let lost = bearers.all[index].end() { fail(lost, with: .timedOut, into: &outbox) }
            }
        }
        follow(opening.expire(at: now, hasBearers: bearers.enhancedCount > 0), into: &outbox)
    }

    /// Has the peer asked for bearers if there is use for them.
    ///
    /// Core 6.0, Vol 3, Part G, 5.3.1.
    mutating func considerBearers() {
        guard offersBearers, trust.security >= .encrypted, !clients.isEmpty, bearers.enhancedCount == 0,
            opening.want() == .inquire
        else { return }
        ownRequests.append(.openBearers)
    }

    /// Takes what the peer's server says that it can do.
    mutating func inquired(_ features: UInt8?, into outbox: inout Outbox) {
        let isOffered = (features ?? 0) & GATT.enhancedBearersSupported != 0
        follow(
            opening.inquired(isOffered: isOffered && trust.security >= .encrypted && bearers.enhancedCount == 0),
            into: &outbox
        )
    }

    mutating func follow(_ event: BearerOpening.OnEvent, into outbox: inout Outbox) {
        switch event {
        case .nothing: break
        case .open: outbox.append(.bearer(.open(BearerOpening.count), of: link))
        }
    }
}
