import BLEHost
import BLEWire
import Foundation

/// The connection events that an app has registered for, and the matching peers that are connected.
struct ConnectionWatch {
    /// The maximum number of services to match; further ones are ignored.
    static let serviceLimit = 4

    private let services: Set<BluetoothUUID>
    private let peers: Set<PeerIdentifier>
    private var present: [PeerIdentifier]

    /// A connection or disconnection of a peer, to report to the app.
    struct Event: Equatable {
        let peer: PeerIdentifier
        let kind: CBConnectionEvent
    }

    /// Starts watching for connection events that match `options`.
    ///
    /// The peers of the existing `links` are not reported until they disconnect.
    init(_ options: [CBConnectionEventMatchingOption: Any], links: [SystemLink]) {
        let services = options[.serviceUUIDs] as? [CBUUID] ?? []
        self.services = Set(services.prefix(Self.serviceLimit).map(\.value))
        peers = Set((options[.peripheralUUIDs] as? [UUID] ?? []).map(PeerIdentifier.init))
        present = []
        present = links.filter(matches).map(\.peer)
    }

    /// Compares the current `links` with the previous ones, and returns the events to report to the app.
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
