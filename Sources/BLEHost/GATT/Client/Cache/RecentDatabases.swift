import BLEWire

/// The attributes of recently connected peers that have no bond.
///
/// An app that connects again soon needs no discovery, if the peer's Database Hash is still the same. The attributes
/// are kept only while the host runs, because another device may later use the address of a peer without a bond.
///
/// Core 6.0, Vol 3, Part G, 2.5.2.1.
struct RecentDatabases: Sendable {
    /// The maximum number of peers.
    ///
    /// The peer whose link ended longest ago is dropped first.
    static let mostPeers = 32
    /// The period after the end of a link during which the attributes can be used.
    static let lifetime = Duration.seconds(600)

    private struct Entry: Sendable {
        let peer: PeerIdentifier
        let database: CachedDatabase
        let expiry: Instant
    }

    /// The entries in the order in which they expire.
    private var entries: [Entry] = []

    /// Records the attributes of a peer whose link has just ended.
    mutating func record(_ database: CachedDatabase, of peer: PeerIdentifier, at now: Instant) {
        remove(peer)
        if entries.count == Self.mostPeers { entries.removeFirst() }
        entries.append(Entry(peer: peer, database: database, expiry: now + Self.lifetime))
    }

    /// Returns and removes the attributes of a peer that has connected again; `nil` if there are none.
    mutating func take(_ peer: PeerIdentifier, at now: Instant) -> CachedDatabase? {
        entries.removeAll { $0.expiry <= now }
        defer { remove(peer) }
        return entries.first { $0.peer == peer }?.database
    }

    private mutating func remove(_ peer: PeerIdentifier) { entries.removeAll { $0.peer == peer } }
}
