import BLEWire

/// The state of one link in the attribute layer.
struct AttributeLink {
    var client: GATTClient
    var server: ServerLink

    var handle: ConnectionHandle { client.link }
    var peer: PeerIdentifier { client.peer }
    /// The ATT MTU, in octets.
    var mtu: Int { client.mtu }
    /// The time at which something is due next; `nil` if nothing is due.
    var deadline: Instant? {
        mutating get {
            var least = client.deadline
            for index in server.bearers.indices { least.bringForward(to: server.bearers[index].indications.deadline) }
            return least
        }
    }
    /// The state of the peer that determines the results of its reads: its security, Client Characteristic
    /// Configurations and Client Supported Features.
    var peerState: GATTDatabase.PeerState { mutating get { server.peerState(on: client.trust) } }

    /// Returns the value that the peer has written to the Client Characteristic Configuration at `configuration`; 0 if
    /// the peer currently may not receive values of the characteristic (`about`).
    mutating func configured(_ about: GATTDatabase.ConfiguredCharacteristic, at configuration: AttributeHandle)
        -> UInt16
    {
        server.configured(about, at: configuration, on: client.trust)
    }

    /// Returns whether `peers` contains the peer of the link.
    ///
    /// `nil` stands for all peers.
    mutating func isAmong(_ peers: [PeerIdentifier]?) -> Bool { peers?.contains(client.peer) ?? true }

    /// Returns the index of the bearer on which to send values of the characteristic with value handle `value`.
    ///
    /// See ``ServerLink/chooseBearer(forValuesOf:mtu:)``.
    mutating func chooseBearer(forValuesOf value: AttributeHandle) -> Int {
        server.chooseBearer(forValuesOf: value, mtu: client.mtu)
    }

    /// Returns the MTU of a bearer, in octets.
    mutating func mtu(at bearer: Int) -> Int { server.bearers[bearer].mtu ?? client.mtu }

    /// The peer, as a client of the local server.
    var remote: RemoteCentral { RemoteCentral(peer: peer, mtu: mtu) }
}

/// The identifier of a bearer of a link.
///
/// Both ends of the link can send requests, responses and values on each bearer.
///
/// Core 6.0, Vol 3, Part F, 3.2.11; Part G, 5.3.
package enum BearerID: Hashable, Sendable {
    /// The bearer on channel 0x0004, which every link has.
    case unenhanced
    /// A bearer on a credit-based channel of an encrypted link.
    case enhanced(ChannelID)
}

/// A request that the attribute layer makes to L2CAP about a link's bearers.
package enum BearerRequest: Equatable, Sendable {
    /// Ask the peer to open this number of bearers (1 to 5).
    case open(Int)
    case channel(ChannelID, ChannelRequest)
}
