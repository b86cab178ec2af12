import BLEHost
import BLEWire
import Foundation

/// Which peers an app wants to hear of when they connect to this machine, and of which it has heard.
struct ConnectionWatch {
    /// How many services may be watched for.
    static let serviceLimit = 4

    private let services: Set<BluetoothUUID>
    private let peers: Set<PeerIdentifier>
    private var present: [PeerIdentifier]

    /// What happened to a peer.
    struct Event: Equatable {
        let peer: PeerIdentifier
        let kind: CBConnectionEvent
    }

    /// Watches from now on: of `links`, which are there already, only the end is told.
    init(_ options: [CBConnectionEventMatchingOption: Any], links: [SystemLink]) {
        let services = options[.serviceUUIDs] as? [CBUUID] ?? []
        self.services = Set(services.prefix(Self.serviceLimit).map(\.value))
        peers = Set((options[.peripheralUUIDs] as? [UUID] ?? []).map(PeerIdentifier.init))
        present = []
        present = links.filter(matches).map(\.peer)
    }

    /// What the links, as they are now, mean to the app.
    mutating func update(_ links: [SystemLink]) -> [Event] {
        let linked = Set(links.map(\.peer))
        var events: [Event] = []
        for peer in present where !linked.contains(peer) { events.append(Event(peer: peer, kind: .peerDisconnected)) }
        present.removeAll { !linked.contains($0) }
        for link in links where !present.contains(link.peer) && matches(link) {
            present.append(link.peer)
            events.append(Event(peer: link.peer, kind: .peerConnected))
        }
        return events
    }

    private func matches(_ link: SystemLink) -> Bool {
        peers.contains(link.peer) || !services.isDisjoint(with: link.services)
    }
}
