import BLEHost
import BLEWire

/// The handles of the services that a client's policy allows.
///
/// It filters requests and events about all other services.
///
/// It is a value that takes discovered services and decides about handles. Nothing of a peer is allowed before its
/// services are discovered. A filter that allows everything also records discovered services and subscriptions, so that
/// it can be restricted later.
struct ServiceFence: Sendable {
    /// The maximum number of peers.
    ///
    /// Beyond it, the first one is dropped.
    static let mostPeers = 64
    /// The maximum number of services and subscriptions per peer.
    static let mostOfPeer = 512

    /// The allowed services of a peer.
    private struct Field {
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
    private var fields: [Field] = []

    init(around services: [BluetoothUUID]?) { self.services = services }

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
    mutating func forget(_ peer: PeerIdentifier) { fields.removeAll { $0.peer == peer } }

    /// Drops a range of a peer whose services have changed.
    mutating func forget(_ range: AttributeHandleRange, at peer: PeerIdentifier) {
        for index in fields.indices where fields[index].peer == peer {
            fields[index].found.removeAll { $0.range.overlaps(range) }
            fields[index].subscribed.removeAll { range.contains($0) }
        }
    }

    /// Changes the allowed services; returns what is not allowed any more.
    mutating func move(around services: [BluetoothUUID]?) -> [Loss] {
        self.services = services
        guard let services else { return [] }
        var losses: [Loss] = []
        for index in fields.indices {
            let lost = fields[index].found.filter { !services.contains($0.uuid) }.map(\.range)
            fields[index].found.removeAll { !services.contains($0.uuid) }
            let field = fields[index]
            let unheard = field.subscribed.filter { !(AttributeHandleRange($0).map(field.contains) ?? false) }
            fields[index].subscribed.removeAll { unheard.contains($0) }
            guard !lost.isEmpty || !unheard.isEmpty else { continue }
            losses.append(Loss(peer: field.peer, ranges: lost, subscribed: unheard))
        }
        return losses
    }

    /// Returns whether a whole range at a peer is allowed.
    func contains(_ range: AttributeHandleRange, at peer: PeerIdentifier) -> Bool {
        services == nil || fields.contains { $0.peer == peer && $0.contains(range) }
    }

    /// Returns whether a handle at a peer is allowed.
    func contains(_ handle: AttributeHandle, at peer: PeerIdentifier) -> Bool {
        services == nil || AttributeHandleRange(handle).map { contains($0, at: peer) } ?? false
    }

    private mutating func change(_ peer: PeerIdentifier, _ body: (inout Field) -> Void) {
        if !fields.contains(where: { $0.peer == peer }) {
            if fields.count >= Self.mostPeers { fields.removeFirst() }
            fields.append(Field(peer: peer))
        }
        for index in fields.indices where fields[index].peer == peer { body(&fields[index]) }
    }
}
