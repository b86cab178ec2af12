import BLEWire

// The bearers beside the unenhanced one, over which clients read and write while others wait.
extension GATTClient {
    /// Records that a bearer was opened.
    mutating func opened(_ id: ChannelID, mtu: Int, at now: Instant, into outbox: inout Outbox) {
        bearers.open(id, mtu: mtu)
        opening.opened()
        proceed(at: now, into: &outbox)
    }

    /// Records a new MTU of a bearer.
    mutating func resized(_ id: ChannelID, mtu: Int) {
        bearers.resize(id, mtu: mtu)
    }

    /// Continues without a bearer.
    ///
    /// Reads on it are repeated on another one; writes fail, because it is unknown whether they were carried out.
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

    /// Closes bearers with a transaction that timed out; the unenhanced bearer together with its link.
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

    /// Requests bearers if they would be useful.
    ///
    /// Core 6.0, Vol 3, Part G, 5.3.1.
    mutating func considerBearers() {
        guard offersBearers, trust.security >= .encrypted, !clients.isEmpty, bearers.enhancedCount == 0,
            opening.want() == .inquire
        else { return }
        ownRequests.append(.openBearers)
    }

    /// Processes the features of the peer's server.
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
