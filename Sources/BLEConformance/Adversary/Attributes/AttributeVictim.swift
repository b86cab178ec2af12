import BLEHost
import BLEWire

/// An attribute layer under attack, with two links: one to the adversary, the other to an honest peer.
struct AttributeVictim: Victim {
    /// The part of the layer that is under attack.
    enum Part: String, CaseIterable {
        /// A server whose values are stored in the layer.
        case server
        /// A server whose app responds to requests as late as possible.
        case app
        /// A client that has several requests in progress, and is also a server.
        case client
        /// A server whose services have changed, with a bonded client that does not know of the change yet.
        case caching

        /// The packets that the adversary uses.
        var packets: [HostilePacket] {
            switch self {
            case .server, .app, .client: HostilePacket.attributePackets
            case .caching: HostilePacket.cachingPackets + HostilePacket.serverPackets
            }
        }
    }

    /// A record of the events on both links.
    struct Record {
        /// The adversary's packets, in order.
        ///
        /// ``answers`` has the host's answers.
        var calls: [HostilePacket] = []
        var answers: [[UInt8]] = []
        var confirmations = 0
        /// The number of indications that the adversary has not confirmed.
        var unconfirmed = 0
        /// The number of values that the app has sent; ``updatesTaken`` is the number of values that the host has
        /// reported as sent.
        var updates = 0
        var updatesTaken = 0
        /// The last request from the host's client to the adversary; `nil` once it has an honest response.
        var request: [UInt8]?
        /// The number of the app's requests to the adversary; ``completed`` is the number of their results.
        var asked = 0
        var completed = 0
        /// The number of results for the app's request on the other link; ``sentElsewhere`` contains the packets that
        /// the host sent on that link.
        var completedElsewhere = 0
        var sentElsewhere: [[UInt8]] = []
        var abandoned: [ConnectionHandle] = []
        /// The peer's requests that wait for the app.
        var held: [ServerTransaction] = []
        /// The first fault that was found; `nil` if there is none.
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

    /// Limits that are so low that a short flood reaches them.
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

    /// Makes the app send several requests to the adversary and to the other peer.
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

    /// A database with a read-only device name at handle 3, a value at handle 5, and its Client Characteristic
    /// Configuration at handle 6.
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

    /// A service with the attributes of ``database``, except that the app provides the value at handle 5, to which
    /// clients may also send write commands.
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
