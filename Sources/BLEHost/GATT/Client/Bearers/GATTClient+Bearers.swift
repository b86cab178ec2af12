import BLEWire

// The enhanced bearers, on which clients can read and write while the unenhanced bearer is busy.
extension GATTClient {
    /// Records that a bearer was opened.
    mutating func opened(_ id: ChannelID, mtu: Int, at now: Instant, into outbox: inout Outbox) {
        bearers.open(id, mtu: mtu)
        opening.opened()
        proceed(at: now, into: &outbox)
    }

    /// Records that the MTU of a bearer has changed.
    mutating func resized(_ id: ChannelID, mtu: Int) {
        bearers.resize(id, mtu: mtu)
    }

    /// Removes a bearer that was closed.
    ///
    /// A read that was in progress on the bearer is repeated on another bearer. Any other procedure fails, because the
    /// peer may or may not have carried it out.
    mutating func closed(_ id: ChannelID, at now: Instant, into outbox: inout Outbox) {
        if let lost = bearers.close(id) {
            if case .read = lost.procedure, lost.client != nil {
                queueForRepetition(lost, into: &outbox)
            } else {
                fail(lost, with: .att(.unlikelyError), into: &outbox)
            }
        }
        proceed(at: now, into: &outbox)
    }

    /// Closes the bearers whose transaction has timed out.
    ///
    /// The unenhanced bearer can only be closed by ending the link.
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
        carryOut(opening.expire(at: now, hasBearers: bearers.enhancedCount > 0), into: &outbox)
    }

    /// Starts to open enhanced bearers if clients would benefit from them and the link is encrypted.
    ///
    /// Core 6.0, Vol 3, Part G, 5.3.1.
    mutating func considerBearers() {
        guard offersBearers, trust.security >= .encrypted, !clients.isEmpty, bearers.enhancedCount == 0,
            opening.want() == .inquire
        else { return }
        ownRequests.append(.openBearers)
    }

    /// Requests bearers if the peer supports them.
    ///
    /// `features` is the Server Supported Features of the peer; `nil` if it has none.
    mutating func inquired(_ features: UInt8?, into outbox: inout Outbox) {
        let isOffered = (features ?? 0) & GATT.enhancedBearersSupported != 0
        carryOut(
            opening.inquired(isOffered: isOffered && trust.security >= .encrypted && bearers.enhancedCount == 0),
            into: &outbox
        )
    }

    mutating func carryOut(_ event: BearerOpening.OnEvent, into outbox: inout Outbox) {
        switch event {
        case .nothing: break
        case .open: outbox.append(.bearer(.open(BearerOpening.count), of: link))
        }
    }
}
