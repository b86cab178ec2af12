import BLEHost
import BLEWire

/// Where a client that may use some services alone has found those: what lies outside is not for it.
///
/// A value: what the host finds in, and whether a handle may be used out. Nothing is known of a peer before its
/// services are discovered, so nothing of it may be used before.
struct ServiceFence: Sendable {
    /// How many peers are remembered; the one that was first found is forgotten for another.
    static let mostPeers = 64

    private let services: [BluetoothUUID]
    private var fields: [(peer: PeerIdentifier, ranges: [AttributeHandleRange])] = []

    init(around services: [BluetoothUUID]) { self.services = services }

    /// Services were discovered at a peer; returns those of them that are inside.
    mutating func admit(_ found: [DiscoveredService], at peer: PeerIdentifier) -> [DiscoveredService] {
        let inside = found.filter { services.contains($0.uuid) }
        guard !inside.isEmpty else { return [] }
        if !fields.contains(where: { $0.peer == peer }) {
            if fields.count >= Self.mostPeers { fields.removeFirst() }
            fields.append((peer, []))
        }
        for index in fields.indices where fields[index].peer == peer {
            for service in inside where !fields[index].ranges.contains(service.range) {
                fields[index].ranges.append(service.range)
            }
        }
        return inside
    }

    /// What was found at a peer holds no more: it has gone, or its services have changed.
    mutating func forget(_ peer: PeerIdentifier) { fields.removeAll { $0.peer == peer } }

    /// Whether all of a range at a peer is inside.
    func contains(_ range: AttributeHandleRange, at peer: PeerIdentifier) -> Bool {
        fields.contains { field in
            field.peer == peer && field.ranges.contains { $0.contains(range.start) && $0.contains(range.end) }
        }
    }

    /// Whether a handle at a peer is inside.
    func contains(_ handle: AttributeHandle, at peer: PeerIdentifier) -> Bool {
        AttributeHandleRange(handle).map { contains($0, at: peer) } ?? false
    }
}
