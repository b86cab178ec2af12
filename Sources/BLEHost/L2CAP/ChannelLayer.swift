import BLEWire

/// All that this host does with the signalling channel and with credit-based channels.
///
/// It takes the payloads of channels 0x0005 and 0x0040 to 0x007F and the requests of clients; what it wants done, it
/// hands out through ``next()``. It knows nothing of controllers, and two of them joined by their packets are a pair.
///
/// Core 6.0, Vol 3, Part A, 4 and 10.
struct ChannelLayer {
    /// What the layer wants done.
    enum Output: Equatable {
        /// Send the payload of a packet, and report back with ``ChannelLayer/sent(_:at:)`` if there is a receipt.
        case send([UInt8], on: ChannelIdentifier, of: ConnectionHandle, receipt: SendReceipt?)
        /// Forget the packets of a channel that wait: it is being closed.
        case discard(ChannelIdentifier, of: ConnectionHandle)
        case event(ClientEvent, for: ClientID)
        /// The peer of a link opened a channel that this client published.
        case accepted(OpenedChannel, for: ClientID, of: ConnectionHandle)
        /// Tell the attribute layer.
        case bearer(BearerEvent, of: ConnectionHandle)
        /// The peripheral asks for other parameters: accept them or refuse them, with this identifier.
        case parametersRequested(Signal.ConnectionParameterUpdateRequest, SignalIdentifier, ConnectionHandle)
        /// The peer refuses a channel for this reason: have the link trusted further, and report back with
        /// ``ChannelLayer/securityAnswered(_:_:at:)``.
        case secure(ConnectionHandle, for: Signal.ConnectionResult)
        case note(Note)
    }

    /// What peers may open.
    struct Publication {
        let spsm: SPSM
        let owner: CreditChannel.Owner
        /// What a link must have for it.
        let security: LinkRequirement
    }

    /// Where a channel is.
    struct Place {
        let link: ConnectionHandle
        let local: ChannelIdentifier
    }

    let limits: Limits
    /// The largest SDU that the attribute layer takes, in octets; `nil` if it wants no channels.
    let bearerMTU: Int?
    var links = ConnectionTable<ChannelLink>()
    var publications: [Publication] = []
    /// Whether peers need an encrypted link for a channel that a client published.
    var needsEncryption: Bool { publications.contains { $0.security.security > .unencrypted } }
    var latestSPSM = SPSM.dynamic.upperBound
    var outbox = OutputQueue<Output>()
    private var places: [ChannelID: Place] = [:]
    private var latestID = ChannelID(rawValue: 0)

    /// Creates a layer without links; `bearerMTU` is the largest SDU that the attribute layer takes, 64 or more, if
    /// peers may open Enhanced ATT bearers.
    init(limits: Limits, bearerMTU: Int? = nil) {
        self.limits = limits
        self.bearerMTU = bearerMTU.map { max($0, Int(ChannelSizes.enhanced.least)) }
    }

    /// What to do next; call until it is `nil`.
    mutating func next() -> Output? { outbox.next() }

    /// When to call ``wake(at:)``, if nothing happens before.
    var deadline: Instant? {
        var least: Instant?
        for index in 0..<links.count { least.bringForward(to: links.values[index].deadline) }
        return least
    }

    /// Begins with a link that came up.
    mutating func linkUp(_ link: ConnectionHandle, peer: PeerIdentifier, role: LinkRole) {
        links[link] = ChannelLink(peer: peer, role: role)
    }

    /// Ends with a link that is gone, and answers all that waited for it.
    mutating func linkDown(_ link: ConnectionHandle, failure: Failure) {
        guard let state = links[link] else { return }
        for opening in state.openings { tell(opening, .failure(failure), on: link) }
        for one in state.deferred { tell(one.requester, one.spsm, .failure(failure), on: link) }
        for channel in state.channels {
            tell(channel.owner, of: channel.id, .closed(failure))
            places[channel.id] = nil
        }
        links[link] = nil
    }

    /// Does what is due.
    mutating func wake(at now: Instant) {
        for handle in links.handles {
            guard let link = links.index(of: handle) else { continue }
            for request in links.values[link].exchange.expire(at: now) {
                outbox.append(.note(.signalTimedOut(handle)))
                giveUp(request, .timedOut, on: handle)
            }
            for index in links.values[link].channels.indices
            where links.values[link].channels[index].expire(at: now) == .disconnect {
                askToClose(index, on: handle, at: now)
            }
        }
    }

    /// What this end asked will not be answered, or was refused altogether.
    mutating func giveUp(_ request: SignalExchange.Request, _ failure: Failure, on handle: ConnectionHandle) {
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

    /// Tells the owner of a channel, if there is one.
    mutating func tell(_ owner: CreditChannel.Owner, of channel: ChannelID, _ event: ChannelEvent) {
        switch owner {
        case .client(let client): outbox.append(.event(.channel(channel, event), for: client))
        case .attributes:
            guard let place = places[channel] else { return }
            outbox.append(.bearer(.channel(channel, event), of: place.link))
        case .nobody: break
        }
    }

    /// A name that no channel of this host has had.
    mutating func makeID() -> ChannelID {
        latestID = ChannelID(rawValue: latestID.rawValue &+ 1)
        return latestID
    }

    mutating func insert(_ channel: CreditChannel, on handle: ConnectionHandle) {
        places[channel.id] = Place(link: handle, local: channel.local)
        links.update(handle) { $0.insert(channel) }
    }

    /// Forgets a channel of which neither end will say more, not even in answer to a request to close it.
    mutating func forget(_ id: ChannelID) {
        guard let (link, index) = find(id) else { return }
        links.values[link].exchange.drop(.disconnect(id))
        links.values[link].remove(at: index)
        places[id] = nil
    }

    /// Where a channel is at the moment: its link, and its place there.
    func find(_ id: ChannelID) -> (link: Int, index: Int)? {
        guard let place = places[id], let link = links.index(of: place.link),
            let index = links.values[link].index(local: place.local)
        else { return nil }
        return (link, index)
    }
}

extension SendReceipt {
    private static let mark: UInt64 = 0xFFFF << 48

    /// The receipt for a packet of a channel; what is no handle of a link keeps it apart from those of attributes.
    init(_ channel: ChannelID) { self.init(rawValue: Self.mark | channel.rawValue) }

    /// The channel whose packet it is for, if it is for one.
    var channel: ChannelID? { rawValue & Self.mark == Self.mark ? ChannelID(rawValue: rawValue & ~Self.mark) : nil }
}
