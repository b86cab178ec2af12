import BLEHost
import BLEWire

/// Where a client that may use some services alone has found those: what lies outside is not for it.
///
/// A value: what the host finds in, and whether a handle may be used out. Nothing is known of a peer before its
/// services are discovered, so nothing of it may be used before. A fence that lets everything through notes all the
/// same what is found and subscribed to, so that it can be drawn closer.
struct ServiceFence: Sendable {
    /// How many peers are remembered; the one that was first found is forgotten for another.
    static let mostPeers = 64
    /// How many services of a peer, and how many subscriptions to it, are remembered.
    static let mostOfPeer = 512

    /// What is known of a peer, all of it inside.
    private struct Field {
        let peer: PeerIdentifier
        var found: [DiscoveredService] = []
        var subscribed: [AttributeHandle] = []

        func contains(_ range: AttributeHandleRange) -> Bool { found.contains { $0.range.contains(range) } }
    }

    /// What a client may use no more.
    struct Loss: Equatable {
        let peer: PeerIdentifier
        /// Where the services are.
        var ranges: [AttributeHandleRange]
        /// Of which values it hears.
        var subscribed: [AttributeHandle]
    }

    /// `nil` for all.
    private var services: [BluetoothUUID]?
    private var fields: [Field] = []

    init(around services: [BluetoothUUID]?) { self.services = services }

    /// Whether anything lies outside.
    var isClosed: Bool { services != nil }

    /// Services were discovered at a peer; returns those of them that are inside.
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

    /// A client hears of a value from now on, or does no more; `false` if it is outside.
    mutating func note(_ subscription: Subscription, to handle: AttributeHandle, at peer: PeerIdentifier) -> Bool {
        guard contains(handle, at: peer) else { return false }
        change(peer) { field in
            field.subscribed.removeAll { $0 == handle }
            guard subscription != .none, field.subscribed.count < Self.mostOfPeer else { return }
            field.subscribed.append(handle)
        }
        return true
    }

    /// What was found at a peer holds no more: it has gone.
    mutating func forget(_ peer: PeerIdentifier) { fields.removeAll { $0.peer == peer } }

    /// What was found there holds no more, since services have changed.
    mutating func forget(_ range: AttributeHandleRange, at peer: PeerIdentifier) {
        for index in fields.indices where fields[index].peer == peer {
            fields[index].found.removeAll { $0.range.overlaps(range) }
            fields[index].subscribed.removeAll { range.contains($0) }
        }
    }

    /// Goes around other services from now on; returns what lies outside that was inside.
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

    /// Whether all of a range at a peer is inside.
    func contains(_ range: AttributeHandleRange, at peer: PeerIdentifier) -> Bool {
        services == nil || fields.contains { $0.peer == peer && $0.contains(range) }
    }

    /// Whether a handle at a peer is inside.
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
