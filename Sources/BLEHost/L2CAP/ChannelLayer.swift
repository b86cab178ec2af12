import BLEWire

/// This host's signalling channel and credit-based channels.
///
/// The layer opens, accepts and closes channels, splits and reassembles their data, and manages credits.
///
/// It takes the payloads from channels 0x0005 and 0x0040 to 0x007F and the requests from clients, and returns actions
/// through ``next()``. It does not depend on a controller: two layers that exchange packets are a complete system.
///
/// Core 6.0, Vol 3, Part A, 4 and 10.
struct ChannelLayer {
    /// An action for the caller.
    enum Output: Equatable {
        /// Send the payload of a packet; if there is a receipt, call ``ChannelLayer/sent(_:at:)`` afterwards.
        case send([UInt8], on: ChannelIdentifier, of: ConnectionHandle, receipt: SendReceipt?)
        /// Drop the queued packets of a channel that is being closed.
        case discard(ChannelIdentifier, of: ConnectionHandle)
        case event(ClientEvent, for: ClientID)
        /// A peer opened a channel that this client published.
        case accepted(OpenedChannel, for: ClientID, of: ConnectionHandle)
        /// Pass this event to the attribute layer.
        case bearer(BearerEvent, of: ConnectionHandle)
        /// The peripheral requests new connection parameters: accept or reject them in a response with this identifier.
        case parametersRequested(Signal.ConnectionParameterUpdateRequest, SignalIdentifier, ConnectionHandle)
        /// The peer refused a channel for this reason: raise the security of the link, then call
        /// ``ChannelLayer/securityAnswered(_:_:at:)``.
        case secure(ConnectionHandle, for: Signal.ConnectionResult)
        case note(Note)
    }

    /// A service to which peers may open channels.
    struct Publication {
        let spsm: SPSM
        let owner: CreditChannel.Owner
        /// The security that the link must have.
        let security: LinkRequirement
        /// The app of the owner; `nil` if the host itself is the owner.
        var app: ClientOwner?
    }

    /// The link of a channel, and the local identifier of the channel on that link.
    struct ChannelPosition {
        let link: ConnectionHandle
        let local: ChannelIdentifier
    }

    let limits: Limits
    /// The MTU of Enhanced ATT bearers, in octets; `nil` if peers may not open any.
    let bearerMTU: Int?
    var links = ConnectionTable<ChannelLink>()
    var publications: [Publication] = []
    /// True if a published channel requires an encrypted link.
    var needsEncryption: Bool { publications.contains { $0.security.security > .unencrypted } }
    var latestSPSM = SPSM.dynamic.upperBound
    var outbox = OutputQueue<Output>()
    private var positions: [ChannelID: ChannelPosition] = [:]
    private var latestID = ChannelID(rawValue: 0)

    /// Creates a layer without links.
    ///
    /// `bearerMTU` is the MTU of Enhanced ATT bearers, at least 64 octets; `nil` if peers may not open any.
    init(limits: Limits, bearerMTU: Int? = nil) {
        self.limits = limits
        self.bearerMTU = bearerMTU.map { max($0, Int(ChannelSizes.enhanced.least)) }
    }

    /// Returns the next action; call it until it returns `nil`.
    mutating func next() -> Output? { outbox.next() }

    /// The time at which to call ``wake(at:)`` unless something happens first.
    var deadline: Instant? {
        var least: Instant?
        for index in 0..<links.count { least.bringForward(to: links.values[index].deadline) }
        return least
    }

    /// Adds a new link.
    mutating func linkUp(_ link: ConnectionHandle, peer: PeerIdentifier, role: LinkRole) {
        links[link] = ChannelLink(peer: peer, role: role)
    }

    /// Removes a link that has ended.
    ///
    /// The link's channels are closed, and its pending requests fail, with `failure`.
    mutating func linkDown(_ link: ConnectionHandle, failure: Failure) {
        guard let state = links[link] else { return }
        for opening in state.openings { reportResult(opening, .failure(failure), on: link) }
        for one in state.deferred { reportResult(one.requester, one.spsm, .failure(failure), on: link) }
        for channel in state.channels {
            report(to: channel.owner, of: channel.id, .closed(failure))
            positions[channel.id] = nil
        }
        links[link] = nil
    }

    /// Processes all expired timers.
    mutating func wake(at now: Instant) {
        for handle in links.handles {
            guard let link = links.index(of: handle) else { continue }
            for request in links.values[link].exchange.expire(at: now) {
                outbox.append(.note(.signalTimedOut(handle)))
                failRequest(request, .timedOut, on: handle)
            }
            for index in links.values[link].channels.indices
            where links.values[link].channels[index].expire(at: now) == .disconnect {
                askToClose(index, on: handle, at: now)
            }
        }
    }

    /// Ends a request of this host that has timed out or was rejected.
    ///
    /// The owners of the channels that were to be opened or resized get `failure`. A channel that was to be closed is
    /// removed.
    mutating func failRequest(_ request: SignalExchange.Request, _ failure: Failure, on handle: ConnectionHandle) {
        switch request {
        case .parameters: break
        case .open(let local): fail([local], failure, on: handle)
        case .openSeveral(let locals): fail(locals, failure, on: handle)
        case .resize(let locals, _, _): resized(locals, failure, on: handle)
        case .disconnect(let id): forget(id)
        }
    }

    mutating func send(_ signal: Signal, _ identifier: SignalIdentifier, on link: ConnectionHandle) {
        let packet = SignalPacket(signal, identifier: identifier)
        outbox.append(.send(packet.encoded, on: .leSignaling, of: link, receipt: nil))
    }

    /// Sends an event to the owner of a channel, if there is one.
    mutating func report(to owner: CreditChannel.Owner, of channel: ChannelID, _ event: ChannelEvent) {
        switch owner {
        case .client(let client): outbox.append(.event(.channel(channel, event), for: client))
        case .attributes:
            guard let position = positions[channel] else { return }
            outbox.append(.bearer(.channel(channel, event), of: position.link))
        case .noOwner: break
        }
    }

    /// Returns a new ``ChannelID``, which no other channel of this host has ever had.
    mutating func makeID() -> ChannelID {
        latestID = ChannelID(rawValue: latestID.rawValue &+ 1)
        return latestID
    }

    mutating func insert(_ channel: CreditChannel, on handle: ConnectionHandle) {
        positions[channel.id] = ChannelPosition(link: handle, local: channel.local)
        links.update(handle) { $0.insert(channel) }
    }

    /// Removes a channel that is closed, or whose closing the peer has failed to confirm.
    mutating func forget(_ id: ChannelID) {
        guard let (link, index) = find(id) else { return }
        links.values[link].exchange.drop(.disconnect(id))
        links.values[link].remove(at: index)
        positions[id] = nil
    }

    /// Returns the index of a channel's link, and the index of the channel in that link; `nil` if the channel does not
    /// exist.
    func find(_ id: ChannelID) -> (link: Int, index: Int)? {
        guard let position = positions[id], let link = links.index(of: position.link),
            let index = links.values[link].index(local: position.local)
        else { return nil }
        return (link, index)
    }
}

extension SendReceipt {
    private static let mark: UInt64 = 0xFFFF << 48

    /// Creates the receipt for a packet on a channel.
    ///
    /// The upper 16 bits of the receipt are not a valid link handle, which distinguishes the receipt from those of the
    /// attribute layer.
    init(_ channel: ChannelID) { self.init(rawValue: Self.mark | channel.rawValue) }

    /// The channel of the packet; `nil` if the packet belongs to the attribute layer.
    var channel: ChannelID? { rawValue & Self.mark == Self.mark ? ChannelID(rawValue: rawValue & ~Self.mark) : nil }
}
