import BLEWire

/// What the attribute layer keeps of one link.
struct AttributeLink {
    var client: GATTClient
    var server: ServerLink

    var handle: ConnectionHandle { client.link }
    var peer: PeerIdentifier { client.peer }
    /// The largest ATT packet, in octets, that both ends take.
    var mtu: Int { client.mtu }
    /// When something is due, if nothing happens before.
    var deadline: Instant? {
        mutating get {
            var least = client.deadline
            for index in server.bearers.indices { least.bringForward(to: server.bearers[index].indications.deadline) }
            return least
        }
    }
    /// What the values that the peer may read depend on.
    var view: GATTDatabase.View { mutating get { server.view(on: client.trust) } }

    /// What the peer has written to a configuration; 0 if it may not hear of the characteristic now.
    mutating func configured(_ about: GATTDatabase.Configured, at configuration: AttributeHandle) -> UInt16 {
        server.configured(about, at: configuration, on: client.trust)
    }

    /// Whether the peer is among those that somebody means, who means all with `nil`.
    mutating func isOne(of peers: [PeerIdentifier]?) -> Bool { peers?.contains(client.peer) ?? true }

    /// Which bearer the values of a characteristic go over: ``ServerLink/route(_:mtu:)``.
    mutating func route(_ value: AttributeHandle) -> Int { server.route(value, mtu: client.mtu) }

    /// The largest packet, in octets, that both ends of a bearer take.
    mutating func mtu(at bearer: Int) -> Int { server.bearers[bearer].mtu ?? client.mtu }

    /// The peer, as the client of the own server.
    var remote: RemoteCentral { RemoteCentral(peer: peer, mtu: mtu) }
}
