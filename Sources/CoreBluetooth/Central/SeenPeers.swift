import BLEHost

/// The peers that managers met or that their host knows, with their names: the latest ones, if there are too many.
struct SeenPeers {
    /// How many peers are remembered.
    static let limit = 4096

    private var names: [PeerIdentifier: String?] = [:]
    /// In the order in which they were met; the oldest is where the next one goes.
    private var order: [PeerIdentifier] = []
    private var oldest = 0

    /// Whether the next peer takes the place of another one.
    var isFull: Bool { order.count == Self.limit }

    func contains(_ peer: PeerIdentifier) -> Bool { names[peer] != nil }

    /// The last name that was known of `peer`.
    func name(of peer: PeerIdentifier) -> String? { names[peer] ?? nil }

    /// Takes a peer, and its name if that is known.
    ///
    /// - Returns: Whether this is news.
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
