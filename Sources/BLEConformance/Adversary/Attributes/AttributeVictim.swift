import BLEHost
import BLEWire

/// An attribute layer with two links: the adversary has one, and somebody else the other.
struct AttributeVictim: Victim {
    /// What in the layer has something to lose.
    enum Part: String, CaseIterable {
        /// A server whose values the layer keeps.
        case server
        /// A server whose app answers nothing before it has to.
        case app
        /// A client that has asked for several things, with a server beside it.
        case client
        /// A server with a bonded client that does not know yet that services have changed.
        case caching

        /// What the adversary sends.
        var packets: [HostilePacket] {
            switch self {
            case .server, .app, .client: HostilePacket.attributePackets
            case .caching: HostilePacket.cachingPackets + HostilePacket.serverPackets
            }
        }
    }

    /// What became of the links so far.
    struct Record {
        /// What the adversary's packets call for, in their order, and the answers that came.
        var calls: [HostilePacket] = []
        var answers: [[UInt8]] = []
        var confirmations = 0
        /// Indications that the adversary got and has not confirmed.
        var unconfirmed = 0
        /// Values that the app sent, and those of which it heard that they have gone.
        var updates = 0
        var updatesTaken = 0
        /// What the own client asked the adversary last and has no answer to that an honest server gave.
        var request: [UInt8]?
        /// Requests of the app to the adversary, and how many came to an end.
        var asked = 0
        var completed = 0
        /// The same for the other link, and what was sent there.
        var completedElsewhere = 0
        var sentElsewhere: [[UInt8]] = []
        var abandoned: [ConnectionHandle] = []
        /// What the app was asked and has not answered.
        var held: [ServerTransaction] = []
        /// What went wrong first.
        var fault: String?
    }

    static let link = ConnectionHandle(wire: 0x0040) ?? .lowest
    static let other = ConnectionHandle(wire: 0x0041) ?? .lowest
    static let app = ClientID(rawValue: 1)
    static let mtu = 64

    let part: Part
    var layer: AttributeLayer
    var record = Record()
    let now = Instant()

    init(_ part: Part) {
        self.part = part
        let configuration = AttributeLayer.Configuration(
            deviceName: String(decoding: Self.name, as: UTF8.self),
            preferredMTU: Self.mtu,
            limits: Self.limits
        )
        switch part {
        case .server, .client: layer = AttributeLayer(configuration: configuration, database: Self.database)
        case .app: layer = AttributeLayer(configuration: configuration, database: GATTDatabase())
        case .caching: layer = AttributeLayer(configuration: configuration)
        }
        if part == .app { layer.perform(.addService(Self.service), for: Self.app, at: now) }
        for (number, link) in [Self.link, Self.other].enumerated() {
            let peer = PeerIdentifier(rawValue: UInt128(number + 1))
            layer.linkUp(link, peer: peer, role: part == .client ? .central : .peripheral, at: now)
        }
        drain()
        refuseRequests()
        if part == .client {
            ask()
            refuseElsewhere()
        }
        if part == .caching { prepareCaching() }
        record.sentElsewhere = []
    }

    /// Limits that a short flood reaches.
    static var limits: Limits {
        var limits = Limits()
        (limits.peerRequests, limits.preparedParts, limits.queuedIndications) = (4, 8, 4)
        limits.attributeLength = 64
        return limits
    }

    mutating func receive(_ packet: HostilePacket) {
        record.calls.append(packet)
        layer.receive(packet.octets.span, on: Self.link, at: now)
        drain()
        if part == .caching { update() }
    }

    /// Has the app ask for several things, of the adversary and of the other peer.
    private mutating func ask() {
        let requests: [AttributeRequest] = [
            .discoverServices(only: []), .read(.init(wire: 3)),
            .write(.init(wire: 5), [UInt8](repeating: 7, count: 100)),
            .subscribe(
                .notifications,
                to: .init(wire: 5),
                in: AttributeHandleRange(.init(wire: 6), .init(wire: 6))
            ),
        ]
        for link in [Self.link, Self.other] { layer.attach(Self.app, to: link) }
        for request in requests { layer.perform(request, on: Self.link, for: Requester(Self.app), at: now) }
        layer.perform(.read(.init(wire: 3)), on: Self.other, for: Requester(Self.app), at: now)
        record.asked = requests.count
        drain()
    }
}

extension AttributeVictim {
    static let name = [UInt8]("Victim".utf8)

    /// The name at handle 3, which nobody can write, and at 5 a value with a configuration.
    private static var database: GATTDatabase {
        let value = GATTDatabase.ExactItem.characteristic(
            .init(wire: 4),
            .short(0x3D00),
            [.read, .write, .notify],
            value: (.init(wire: 5), [1, 2]),
            [.readable, .writeable]
        )
        let service = GATTDatabase.ExactService(
            uuid: .short(0x1815),
            isPrimary: true,
            range: AttributeHandleRange(.init(wire: 1), .init(wire: 7)) ?? .all,
            items: [
                .characteristic(.init(wire: 2), .short(0x2A00), .read, value: (.init(wire: 3), name), .readable), value,
                .descriptor(.init(wire: 6), .short(0x2902), [.readable, .writeable], [0, 0]),
            ]
        )
        guard let database = GATTDatabase(exactly: [service]) else { preconditionFailure("the handles are in order") }
        return database
    }

    /// The same attributes, of which an app holds the value at 5.
    static var service: ServiceDefinition {
        ServiceDefinition(
            id: .init(rawValue: 1),
            uuid: .short(0x1815),
            characteristics: [
                .init(
                    id: .init(rawValue: 2),
                    uuid: .short(0x2A00),
                    properties: .read,
                    permissions: .readable,
                    value: name
                ),
                .init(
                    id: .init(rawValue: 3),
                    uuid: .short(0x3D00),
                    properties: [.read, .write, .notify, .writeWithoutResponse, .authenticatedSignedWrites],
                    permissions: [.readable, .writeable]
                ),
            ]
        )
    }
}
