import BLEWire

/// The connection requests that failed because all links that the controller or the host allows were in use.
///
/// If a client repeats such a request before any link has ended, the request waits for the end of a link instead of
/// failing again.
///
/// Controllers do not report the number of links that they support. The host learns the number when the controller
/// refuses a link, and forgets it when a link ends, because the number may depend on the parameters of the links.
struct LinkShortage {
    /// The number of links at which the controller refused another one; `nil` if it has not refused any since a link
    /// last ended.
    private var capacity: Int?
    /// The requests that have failed since a link last ended, oldest first.
    private var reported: [(client: ClientID, peer: PeerIdentifier)] = []

    /// Returns whether the controller may accept a link in addition to `links` existing ones.
    func allowsLink(after links: Int) -> Bool { capacity.map { links < $0 } ?? true }

    /// Records that the controller refused a link while it had `links` other ones.
    ///
    /// If `links` is 0, the refusal is not recorded, because there is no link whose end a request could wait for. The
    /// initiator tries again soon.
    mutating func controllerRefused(after links: Int) { capacity = links > 0 ? links : nil }

    /// Records that a link has ended; the controller may then accept another one.
    mutating func linkEnded() { self = LinkShortage() }

    /// Records that the request of a client failed.
    ///
    /// If `limit` requests are already recorded, the oldest of them is forgotten.
    mutating func report(_ client: ClientID, _ peer: PeerIdentifier, limit: Int) {
        if hasReported(client, peer) { return }
        if reported.count >= limit, !reported.isEmpty { reported.removeFirst() }
        reported.append((client, peer))
    }

    /// Returns whether a client's request to connect to a peer has failed since a link last ended.
    func hasReported(_ client: ClientID, _ peer: PeerIdentifier) -> Bool {
        reported.contains { $0.client == client && $0.peer == peer }
    }

    /// Forgets the failed requests of a client whose session is closed.
    mutating func forget(_ client: ClientID) { reported.removeAll { $0.client == client } }
}
