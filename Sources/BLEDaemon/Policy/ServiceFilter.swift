import BLEHost
import BLEWire

/// The handles of the services that a client's policy allows.
///
/// It filters requests and events about all other services.
///
/// It is a value that takes discovered services and decides about handles. Nothing of a peer is allowed before its
/// services are discovered. A filter that allows everything also records discovered services and subscriptions, so that
/// it can be restricted later.
struct ServiceFilter: Sendable {
    /// The maximum number of peers.
    ///
    /// Beyond it, the first one is dropped.
    static let mostPeers = 64
    /// The maximum number of services and subscriptions per peer.
    static let mostOfPeer = 512

    /// The allowed services of a peer.
    private struct PeerServices {
        let peer: PeerIdentifier
        var found: [DiscoveredService] = []
        var subscribed: [AttributeHandle] = []

        func contains(_ range: AttributeHandleRange) -> Bool { found.contains { $0.range.contains(range) } }
    }

    /// The things that a client may not use any more.
    struct Loss: Equatable {
        let peer: PeerIdentifier
        /// The ranges of the services.
        var ranges: [AttributeHandleRange]
        /// The subscribed values.
        var subscribed: [AttributeHandle]
    }

    /// `nil` for all.
    private var services: [BluetoothUUID]?
    private var peers: [PeerServices] = []

    init(allowing services: [BluetoothUUID]?) { self.services = services }

    /// True if anything is filtered.
    var isClosed: Bool { services != nil }

    /// Records discovered services of a peer; returns the allowed ones.
    mutating func admit(_ found: [DiscoveredService], at peer: PeerIdentifier) -> [DiscoveredService] {
        let inside = services.map { services in found.filter { services.contains($0.uuid) } } ?? found
        guard !inside.isEmpty else { return [] }
        change(peer) { field in
            for service in inside where field.found.count < Self.mostOfPeer && !field.found.contains(service) {
                field.found.append(service)
            }
        }
        return inside
    }

    /// Records a subscription to a value, or its end; returns `false` if it is not allowed.
    mutating func note(_ subscription: Subscription, to handle: AttributeHandle, at peer: PeerIdentifier) -> Bool {
        guard contains(handle, at: peer) else { return false }
        change(peer) { field in
            field.subscribed.removeAll { $0 == handle }
            guard subscription != .none, field.subscribed.count < Self.mostOfPeer else { return }
            field.subscribed.append(handle)
        }
        return true
    }

    /// Drops everything about a peer that has disconnected.
    mutating func forget(_ peer: PeerIdentifier) { peers.removeAll { $0.peer == peer } }

    /// Drops a range of a peer whose services have changed.
    mutating func forget(_ range: AttributeHandleRange, at peer: PeerIdentifier) {
        for index in peers.indices where peers[index].peer == peer {
            peers[index].found.removeAll { $0.range.overlaps(range) }
            peers[index].subscribed.removeAll { range.contains($0) }
        }
    }

    /// Changes the allowed services; returns what is not allowed any more.
    mutating func move(allowing services: [BluetoothUUID]?) -> [Loss] {
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

    /// Returns whether a whole range at a peer is allowed.
    func contains(_ range: AttributeHandleRange, at peer: PeerIdentifier) -> Bool {
        services == nil || peers.contains { $0.peer == peer && $0.contains(range) }
    }

    /// Returns whether a handle at a peer is allowed.
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
