import BLEHost

/// The peers that managers discovered or that the host knows, with their names.
///
/// If there are too many, the latest are kept.
struct SeenPeers {
    /// The maximum number of peers.
    static let limit = 4096

    private var names: [PeerIdentifier: String?] = [:]
    /// In the order of their first discovery.
    ///
    /// The oldest is replaced next.
    private var order: [PeerIdentifier] = []
    private var oldest = 0

    /// True if the next peer replaces another one.
    var isFull: Bool { order.count == Self.limit }

    func contains(_ peer: PeerIdentifier) -> Bool { names[peer] != nil }

    /// Returns the last known name of `peer`.
    func name(of peer: PeerIdentifier) -> String? { names[peer] ?? nil }

    /// Adds a peer, with its name if it is known.
    ///
    /// - Returns: True if it has changed.
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
