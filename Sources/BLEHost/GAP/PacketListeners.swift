/// The sessions of test suites in which every advertising packet is reported.
struct PacketListeners {
    private var sessions: [(client: ClientID, parameters: ScanParameters)] = []

    /// True if any test suite receives packets.
    var hasSessions: Bool { !sessions.isEmpty }

    var clients: [ClientID] { sessions.map(\.client) }

    /// The scan parameters that were requested last; `nil` if no test suite receives packets.
    var parameters: ScanParameters? { sessions.last?.parameters }

    mutating func start(_ parameters: ScanParameters, for client: ClientID) {
        stop(client)
        sessions.append((client, parameters))
    }

    mutating func stop(_ client: ClientID) { sessions.removeAll { $0.client == client } }

    mutating func stopAll() { sessions.removeAll() }
}
