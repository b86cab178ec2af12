/// The clients of this host whose attributes or channels the central of one link has used.
///
/// Only these clients receive events about the central and may act on its link.
struct ServedClients {
    private(set) var all: [ClientID] = []
    private var latest: ClientID?

    /// Notes that the central used something of a client, and returns whether that is the first time.
    mutating func note(_ client: ClientID) -> Bool {
        latest = client
        guard !all.contains(client) else { return false }
        all.append(client)
        return true
    }

    /// Returns whether this client was noted last.
    ///
    /// This is looked at for each packet, so it must cost next to nothing.
    @inline(__always)
    func isLatest(_ client: ClientID) -> Bool { latest?.rawValue == client.rawValue }

    /// Forgets a client whose session has ended.
    mutating func remove(_ client: ClientID) {
        all.removeAll { $0 == client }
        if latest == client { latest = nil }
    }
}
