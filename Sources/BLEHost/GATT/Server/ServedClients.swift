/// The clients of this host whose attributes or channels the central of one link has used.
///
/// Only these clients receive events about the central and may act on its link.
struct ServedClients {
    private(set) var all: [ClientID] = []
    private var latest: ClientID?

    /// Records that the central used an attribute or channel of a client, and returns whether that is the first time.
    mutating func note(_ client: ClientID) -> Bool {
        latest = client
        guard !all.contains(client) else { return false }
        all.append(client)
        return true
    }

    /// Returns whether this client is the one whose attribute or channel the central used last.
    ///
    /// This is called for each packet, so it must be very cheap.
    @inline(__always)
    func isLatest(_ client: ClientID) -> Bool { latest?.rawValue == client.rawValue }

    /// Removes a client whose session has ended.
    mutating func remove(_ client: ClientID) {
        all.removeAll { $0 == client }
        if latest == client { latest = nil }
    }
}
