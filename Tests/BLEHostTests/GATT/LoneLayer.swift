import BLEWire

@testable import BLEHost

/// One attribute layer and one link, whose peer is whatever a test writes by hand.
struct LoneLayer {
    static let link = ConnectionHandle(wire: 0x0001)!
    static let peer = PeerIdentifier(rawValue: 7)
    static let app = ClientID(rawValue: 3)

    var layer: AttributeLayer
    var now = Instant()
    var events: [(client: ClientID, event: ClientEvent)] = []
    var others: [AttributeLayer.Output] = []
    /// Packets that it sent on enhanced bearers.
    var onBearers: [(channel: ChannelID, pdu: [UInt8])] = []
    /// What else it wanted done with enhanced bearers.
    var bearerRequests: [BearerRequest] = []
    /// Receipts of packets that the controller has not taken.
    var receipts: [SendReceipt] = []

    /// Creates a layer that has agreed with the peer on packets of `mtu` octets, unless that is `nil`.
    init(
        role: LinkRole,
        mtu: Int? = 23,
        leastKeySize: Int = 7,
        offersBearers: Bool = false,
        limits: Limits = Limits(),
        database: GATTDatabase? = nil
    ) {
        let configuration = AttributeLayer.Configuration(
            preferredMTU: 517,
            leastKeySize: leastKeySize,
            offersEnhancedBearers: offersBearers,
            limits: limits
        )
        layer = AttributeLayer(configuration: configuration, database: database ?? .plain(deviceName: "Host"))
        layer.linkUp(Self.link, peer: Self.peer, role: role, at: now)
        _ = sent()
        if let size = mtu.map({ UInt16($0).littleEndianOctets }) {
            _ = answers(to: role == .central ? [0x03] + size : [0x02] + size)
        }
        if role == .central { layer.attach(Self.app, to: Self.link) }
        events = []
        others = []
    }

    /// For which reasons the peer wants to trust the link further.
    var refusals: [ATT.ErrorCode] = []
    /// What comes of the wish that the link be trusted further; `nil` if that is not known yet.
    var security: SecurityAnswer? = .refused(nil)

    /// What the layer has sent since it was asked last.
    mutating func sent() -> [[UInt8]] {
        var packets: [[UInt8]] = []
        while let output = layer.next() {
            switch output {
            case .send(let pdu, _, let receipt):
                packets.append(pdu.payload)
                if let receipt { receipts.append(receipt) }
            case .bearer(.channel(let channel, .send(let pdu)), _): onBearers.append((channel, pdu))
            case .bearer(.channel(_, .consumed), _): break
            case .bearer(let request, _): bearerRequests.append(request)
            case .event(let event, let client): events.append((client, event))
            case .secure(let link, let code):
                refusals.append(code)
                if let security { layer.securityAnswered(link, security, at: now) }
            case .mtuSettled, .abandon, .used, .nameRead, .servicesKnown, .bondChanged, .confirmed, .note:
                others.append(output)
            }
        }
        return packets
    }

    /// What the layer sends when it receives this packet.
    mutating func answers(to pdu: [UInt8]) -> [[UInt8]] {
        layer.receive(pdu.span, on: Self.link, at: now)
        return sent()
    }

    mutating func perform(_ request: AttributeRequest, for client: ClientID = app) -> [[UInt8]] {
        layer.perform(request, on: Self.link, for: Requester(client), at: now)
        return sent()
    }

    mutating func perform(_ request: ServiceRequest, for client: ClientID = app) -> [[UInt8]] {
        layer.perform(request, for: client, at: now)
        return sent()
    }

    mutating func advance(by duration: Duration) -> [[UInt8]] {
        now = now + duration
        layer.wake(at: now)
        return sent()
    }

    /// Has the peer learn of the database as it is now.
    mutating func learn() {
        _ = answers(to: [UInt8]("08 0100 ffff 2a2b"))
        _ = answers(to: [UInt8]("04 0100 0100"))
    }

    /// Has the controller take all packets.
    mutating func take() {
        for receipt in receipts { layer.sent(receipt, at: now) }
        receipts = []
        _ = sent()
    }

    /// What the client heard of the peer since it was asked last.
    mutating func peerEvents(of client: ClientID = app) -> [PeerEvent] {
        defer { events.removeAll { $0.client == client } }
        return events.filter { $0.client == client }.compactMap { $0.event.peerEvent }
    }

    /// What the client heard of its server since it was asked last.
    mutating func serverEvents(of client: ClientID = app) -> [ServerEvent] {
        defer { events.removeAll { $0.client == client } }
        return events.filter { $0.client == client }.compactMap { $0.event.serverEvent }
    }

    var notes: [Note] {
        others.compactMap { if case .note(let note) = $0 { note } else { nil } }
    }
}

extension [UInt8] {
    /// Creates octets from two digits each; spaces do not count.
    init(_ hexadecimal: String) {
        let digits = hexadecimal.filter { $0 != " " }.map { UInt8($0.hexDigitValue ?? 0) }
        self = stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}
