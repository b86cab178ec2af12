import BLEWire

@testable import BLEHost

/// One channel layer and one link, whose peer is whatever a test writes by hand.
struct LoneChannels {
    static let link = ConnectionHandle(wire: 0x0001) ?? .lowest
    static let peer = PeerIdentifier(rawValue: 7)
    static let app = ClientID(rawValue: 3)
    static let server = ClientID(rawValue: 4)
    static let identifier = SignalIdentifier(wire: 7) ?? .first

    /// A packet of a credit-based channel.
    struct Packet: Equatable {
        let channel: UInt16
        let payload: [UInt8]
    }

    var layer: ChannelLayer
    /// How far the link can be trusted.
    var trust = LinkTrust(.unencrypted)
    var now = Instant()
    var events: [ClientEvent] = []
    var accepted: [OpenedChannel] = []
    var bearers: [BearerEvent] = []
    var notes: [Note] = []
    var requested: [Signal.ConnectionParameterUpdateRequest] = []
    /// Why the peer did not open channels on a link that it trusts no further.
    var refusals: [Signal.ConnectionResult] = []
    /// What comes of the wish that the link be trusted further; `nil` if that is not known yet.
    var security: SecurityAnswer? = .refused(nil)
    /// Packets of channels, which the controller has not taken yet.
    var packets: [Packet] = []
    private(set) var receipts: [SendReceipt] = []
    /// What the server published.
    private(set) var open = SPSM.none
    private(set) var encrypted = SPSM.none

    init(role: LinkRole = .central, limits: Limits = Limits(), bearerMTU: Int? = nil) {
        layer = ChannelLayer(limits: limits, bearerMTU: bearerMTU)
        layer.linkUp(Self.link, peer: Self.peer, role: role)
        layer.publish(.unencrypted, for: Self.server)
        layer.publish(.encrypted, for: Self.server)
        _ = drain()
        let published = events.compactMap { if case .server(.channelPublished(let psm, nil)) = $0 { psm } else { nil } }
        (open, encrypted) = (published.first ?? .none, published.last ?? .none)
        events = []
    }

    /// Takes out what the layer wants done; returns the signals.
    mutating func drain() -> [SignalPacket] {
        var signals: [SignalPacket] = []
        while let output = layer.next() {
            switch output {
            case .send(let payload, .leSignaling, _, _):
                if let signal = try? SignalPacket(decoding: payload) { signals.append(signal) }
            case .send(let payload, let channel, _, let receipt):
                packets.append(Packet(channel: channel.wire, payload: payload))
                if let receipt { receipts.append(receipt) }
            case .discard: break
            case .event(let event, _): events.append(event)
            case .accepted(let channel, _, _): accepted.append(channel)
            case .bearer(let event, _): bearers.append(event)
            case .parametersRequested(let request, _, _): requested.append(request)
            case .secure(let link, let result):
                refusals.append(result)
                if let security { layer.securityAnswered(link, security, at: now) }
            case .note(let note): notes.append(note)
            }
        }
        return signals
    }

    /// What the layer says when the peer sends this signal.
    mutating func answers(to signal: Signal, _ identifier: SignalIdentifier = identifier) -> [Signal] {
        answers(to: SignalPacket(signal, identifier: identifier).encoded)
    }

    /// What the layer says when the peer sends these octets on the signalling channel.
    mutating func answers(to octets: [UInt8]) -> [Signal] {
        layer.receiveSignal(octets.span, on: Self.link, trust, at: now)
        return drain().map(\.signal)
    }

    /// What the layer says when the peer sends this packet on a channel.
    mutating func answers(toData payload: [UInt8], on channel: UInt16) -> [Signal] {
        layer.receive(payload.span, on: ChannelIdentifier(wire: channel), of: Self.link, at: now)
        return drain().map(\.signal)
    }

    mutating func perform(_ request: ChannelRequest, on channel: ChannelID, for client: ClientID = app) -> [Signal] {
        layer.perform(request, on: channel, for: client, at: now)
        return drain().map(\.signal)
    }

    /// The controller takes all packets of channels.
    mutating func take() -> [Signal] {
        var signals: [Signal] = []
        while !receipts.isEmpty {
            guard let channel = receipts.removeFirst().channel else { continue }
            layer.sent(channel, at: now)
            signals += drain().map(\.signal)
        }
        return signals
    }

    mutating func advance(by duration: Duration) -> [Signal] {
        now = now + duration
        layer.wake(at: now)
        return drain().map(\.signal)
    }

    /// Has the app open a channel; returns the request that goes out.
    mutating func ask(for spsm: SPSM = SPSM(wire: 0x80)) -> SignalPacket? {
        layer.open(spsm, on: Self.link, for: Requester(Self.app), at: now)
        return drain().first
    }

    /// An open channel of the app, 0x0041 at the peer.
    mutating func opened(
        remote: UInt16 = 0x41,
        mtu: UInt16 = 100,
        mps: UInt16 = 50,
        credits: UInt16 = 10
    ) -> OpenedChannel {
        guard let request = ask() else { preconditionFailure("a channel can be asked for") }
        let response = Signal.LECreditBasedConnectionResponse(
            destination: ChannelIdentifier(wire: remote),
            mtu: mtu,
            mps: mps,
            credits: credits
        )
        _ = answers(to: .leCreditBasedConnectionResponse(response), request.identifier)
        guard case .peer(_, .channelOpened(_, .success(let channel)), _)? = events.last else {
            preconditionFailure("the channel is open: \(events)")
        }
        events = []
        return channel
    }

    /// An open channel of the server that the peer asked for, 0x0050 there.
    mutating func accepted(remote: UInt16 = 0x50, credits: UInt16 = 10) -> OpenedChannel? {
        let request = Signal.LECreditBasedConnectionRequest(
            spsm: open,
            source: ChannelIdentifier(wire: remote),
            mtu: 100,
            mps: 50,
            credits: credits
        )
        _ = answers(to: .leCreditBasedConnectionRequest(request))
        return accepted.popLast()
    }

    /// What a channel says that is no more.
    var closings: [Failure?] {
        events.compactMap { if case .channel(_, .closed(let failure)) = $0 { .some(failure) } else { nil } }
    }

    /// What came of the requests for channels.
    var openings: [Result<OpenedChannel, Failure>] {
        events.compactMap { if case .peer(_, .channelOpened(_, let result), _) = $0 { result } else { nil } }
    }
}
