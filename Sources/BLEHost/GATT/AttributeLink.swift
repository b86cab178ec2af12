import BLEWire

/// The state of one link in the attribute layer.
struct AttributeLink {
    var client: GATTClient
    var server: ServerLink

    var handle: ConnectionHandle { client.link }
    var peer: PeerIdentifier { client.peer }
    /// The ATT MTU, in octets.
    var mtu: Int { client.mtu }
    /// The next time at which something is due.
    var deadline: Instant? {
        mutating get {
            var least = client.deadline
            for index in server.bearers.indices { least.bringForward(to: server.bearers[index].indications.deadline) }
            return least
        }
    }
    /// The properties of the link that the readable values depend on.
    var view: GATTDatabase.View { mutating get { server.view(on: client.trust) } }

    /// Returns the peer's configuration; 0 if it currently may not receive the characteristic.
    mutating func configured(_ about: GATTDatabase.Configured, at configuration: AttributeHandle) -> UInt16 {
        server.configured(about, at: configuration, on: client.trust)
    }

    /// Returns whether the peer is among `peers`; `nil` stands for all.
    mutating func isOne(of peers: [PeerIdentifier]?) -> Bool { peers?.contains(client.peer) ?? true }

    /// Returns the bearer for the values of a characteristic: ``ServerLink/route(_:mtu:)``.
    mutating func route(_ value: AttributeHandle) -> Int { server.route(value, mtu: client.mtu) }

    /// Returns the MTU of a bearer, in octets.
    mutating func mtu(at bearer: Int) -> Int { server.bearers[bearer].mtu ?? client.mtu }

    /// The peer, as a client of the local server.
    var remote: RemoteCentral { RemoteCentral(peer: peer, mtu: mtu) }
}
