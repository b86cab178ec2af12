import BLEHost
import BLEWire

/// A filter for the attribute handles of peers, which allows only handles in services that the client may use.
///
/// It records which services were discovered, and says which handles are allowed; it has no effects of its own. If only
/// some services are allowed, no handles of a peer are allowed until its services have been discovered. A filter that
/// allows everything also records services and subscriptions, because it may be restricted later.
struct ServiceFilter: Sendable {
    /// The maximum number of peers.
    ///
    /// If there are more, the one that was recorded first is dropped.
    static let mostPeers = 64
    /// The maximum number of services per peer, which is also the maximum number of subscriptions; further ones are not
    /// recorded.
    static let mostOfPeer = 512

    /// The allowed services that were discovered on a peer, and the client's subscriptions to their values.
    private struct PeerServices {
        let peer: PeerIdentifier
        var found: [DiscoveredService] = []
        var subscribed: [AttributeHandle] = []

        func contains(_ range: AttributeHandleRange) -> Bool { found.contains { $0.range.contains(range) } }
    }

    /// The services and subscriptions on a peer that a client may no longer use.
    struct Loss: Equatable {
        let peer: PeerIdentifier
        /// The handle ranges of the services.
        var ranges: [AttributeHandleRange]
        /// The handles of the subscribed values.
        var subscribed: [AttributeHandle]
    }

    /// The UUIDs of the allowed services; `nil` for all.
    private var services: [BluetoothUUID]?
    private var peers: [PeerServices] = []

    init(allowing services: [BluetoothUUID]?) { self.services = services }

    /// True if only some services are allowed.
    var isRestricted: Bool { services != nil }

    /// Returns the allowed services in `found`, which were discovered on a peer, and records them.
    mutating func filter(_ found: [DiscoveredService], at peer: PeerIdentifier) -> [DiscoveredService] {
        let inside = services.map { services in found.filter { services.contains($0.uuid) } } ?? found
        guard !inside.isEmpty else { return [] }
        change(peer) { field in
            for service in inside where field.found.count < Self.mostOfPeer && !field.found.contains(service) {
                field.found.append(service)
            }
        }
        return inside
    }

    /// Records that a subscription to a value has started or ended; returns false if the value is not allowed.
    mutating func note(_ subscription: Subscription, to handle: AttributeHandle, at peer: PeerIdentifier) -> Bool {
        guard contains(handle, at: peer) else { return false }
        change(peer) { field in
            field.subscribed.removeAll { $0 == handle }
            guard subscription != .none, field.subscribed.count < Self.mostOfPeer else { return }
            field.subscribed.append(handle)
        }
        return true
    }

    /// Drops all services and subscriptions of a peer that has disconnected.
    mutating func forget(_ peer: PeerIdentifier) { peers.removeAll { $0.peer == peer } }

    /// Drops the services and subscriptions in a range of handles, because the peer's services have changed.
    mutating func forget(_ range: AttributeHandleRange, at peer: PeerIdentifier) {
        for index in peers.indices where peers[index].peer == peer {
            peers[index].found.removeAll { $0.range.overlaps(range) }
            peers[index].subscribed.removeAll { range.contains($0) }
        }
    }

    /// Sets the allowed services, and returns the recorded services and subscriptions that are no longer allowed, by
    /// peer.
    mutating func allow(_ services: [BluetoothUUID]?) -> [Loss] {
        self.services = services
        guard let services else { return [] }
        var losses: [Loss] = []
        for index in peers.indices {
            let lost = peers[index].found.filter { !services.contains($0.uuid) }.map(\.range)
            peers[index].found.removeAll { !services.contains($0.uuid) }
            let field = peers[index]
            let unsubscribed = field.subscribed.filter { !(AttributeHandleRange($0).map(field.contains) ?? false) }
            peers[index].subscribed.removeAll { unsubscribed.contains($0) }
            guard !lost.isEmpty || !unsubscribed.isEmpty else { continue }
            losses.append(Loss(peer: field.peer, ranges: lost, subscribed: unsubscribed))
        }
        return losses
    }

    /// Returns whether a range of handles on a peer is inside an allowed service.
    func contains(_ range: AttributeHandleRange, at peer: PeerIdentifier) -> Bool {
        services == nil || peers.contains { $0.peer == peer && $0.contains(range) }
    }

    /// Returns whether a handle on a peer is inside an allowed service.
    func contains(_ handle: AttributeHandle, at peer: PeerIdentifier) -> Bool {
        services == nil || AttributeHandleRange(handle).map { contains($0, at: peer) } ?? false
    }

    private mutating func change(_ peer: PeerIdentifier, _ body: (inout PeerServices) -> Void) {
        if !peers.contains(where: { $0.peer == peer }) {
            if peers.count >= Self.mostPeers { peers.removeFirst() }
            peers.append(PeerServices(peer: peer))
        }
        for index in peers.indices where peers[index].peer == peer { body(&peers[index]) }
    }
}
