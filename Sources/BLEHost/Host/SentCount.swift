/// The number of one client's packets that the controller has taken since the last report.
///
/// One event reports these packets together.
struct SentCount {
    /// The kind of packets.
    enum Kind: Equatable {
        case writeCommands(to: PeerIdentifier)
        case updates
    }

    private var client = ClientID(rawValue: 0)
    private var kind = Kind.updates
    private var count = 0

    /// Counts packets.
    ///
    /// If the packets counted so far belong to another client or kind, returns the event that reports those packets.
    mutating func count(_ kind: Kind, for client: ClientID, _ number: Int = 1) -> Host.Output? {
        if count > 0, client == self.client, kind == self.kind {
            count += number
            return nil
        }
        let earlier = take()
        (self.client, self.kind, count) = (client, kind, number)
        return earlier
    }

    var isEmpty: Bool { count == 0 }

    /// Resets the count, and returns the event that reports it; `nil` if the count is 0.
    mutating func take() -> Host.Output? {
        guard count > 0 else { return nil }
        defer { count = 0 }
        switch kind {
        case .writeCommands(let peer): return .event(.peer(peer, .writeCommandsTaken(count)), for: client)
        case .updates: return .event(.server(.updatesTaken(count)), for: client)
        }
    }
}
