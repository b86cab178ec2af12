import BLEHost

/// The peers that managers have discovered or that the host knows, with their names.
///
/// When the table is full, a new peer replaces the oldest.
struct SeenPeers {
    /// The maximum number of peers.
    static let limit = 4096

    private var names: [PeerIdentifier: String?] = [:]
    /// The peers in the order in which they were added, as a ring.
    ///
    /// The next new peer replaces the one at the index `oldest`.
    private var order: [PeerIdentifier] = []
    private var oldest = 0

    /// True if the next new peer replaces another peer.
    var isFull: Bool { order.count == Self.limit }

    func contains(_ peer: PeerIdentifier) -> Bool { names[peer] != nil }

    /// Returns the last known name of `peer`; `nil` if no name is known.
    func name(of peer: PeerIdentifier) -> String? { names[peer] ?? nil }

    /// Adds a peer, or updates its name if `name` is not `nil`.
    ///
    /// - Returns: True if the peer is new or has a new name.
    @discardableResult
    mutating func insert(_ peer: PeerIdentifier, name: String?) -> Bool {
        guard !contains(peer) else {
            guard let name, name != self.name(of: peer) else { return false }
            names.updateValue(name, forKey: peer)
            return true
        }
        if order.count < Self.limit {
            order.append(peer)
        } else {
            names.removeValue(forKey: order[oldest])
            order[oldest] = peer
            oldest = (oldest + 1) % Self.limit
        }
        names.updateValue(name, forKey: peer)
        return true
    }
}
