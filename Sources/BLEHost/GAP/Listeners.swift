/// Testers that hear every packet of advertisers.
struct Listeners {
    private var sessions: [(client: ClientID, parameters: ScanParameters)] = []

    /// Whether anybody listens.
    var areThere: Bool { !sessions.isEmpty }

    var clients: [ClientID] { sessions.map(\.client) }

    /// How to scan for them: as the one that came last wants it.
    var parameters: ScanParameters? { sessions.last?.parameters }

    mutating func start(_ parameters: ScanParameters, for client: ClientID) {
        stop(client)
        sessions.append((client, parameters))
    }

    mutating func stop(_ client: ClientID) { sessions.removeAll { $0.client == client } }

    mutating func stopAll() { sessions.removeAll() }
}
