/// The sessions that are open, in the order of their identifiers.
struct ClientTable {
    private(set) var clients: [(id: ClientID, role: ClientRole, phase: AppPhase)] = []

    /// The clients that use the host as a central.
    var centrals: [ClientID] { clients.filter { $0.role == .central }.map(\.id) }

    /// The clients that use the host as a peripheral.
    var peripherals: [ClientID] { clients.filter { $0.role == .peripheral }.map(\.id) }

    /// The clients that look after pairing and bonds, or hear what comes of it.
    var agents: [ClientID] { clients.filter { $0.role == .agent || $0.role == .tester }.map(\.id) }

    /// The clients that test this host.
    var testers: [ClientID] { clients.filter { $0.role == .tester }.map(\.id) }

    func role(of client: ClientID) -> ClientRole? { clients.first { $0.id == client }?.role }

    /// How far the app of a client is in use.
    func phase(of client: ClientID) -> AppPhase { clients.first { $0.id == client }?.phase ?? .foreground }

    mutating func move(_ client: ClientID, to phase: AppPhase) {
        guard let index = clients.firstIndex(where: { $0.id == client }) else { return }
        clients[index].phase = phase
    }

    mutating func open(_ client: ClientID, role: ClientRole) {
        precondition(self.role(of: client) == nil, "a session has an identifier of its own")
        let index = clients.firstIndex { $0.id > client } ?? clients.endIndex
        clients.insert((client, role, .foreground), at: index)
    }

    /// Ends a session; `false` if there was none.
    mutating func close(_ client: ClientID) -> Bool {
        guard let index = clients.firstIndex(where: { $0.id == client }) else { return false }
        clients.remove(at: index)
        return true
    }
}
