/// The open sessions, in the order of their identifiers.
struct ClientTable {
    struct Client {
        let id: ClientID
        let role: ClientRole
        fileprivate(set) var owner: ClientOwner
        fileprivate(set) var phase = AppPhase.foreground
        /// The list of connected centrals that the client last received.
        fileprivate var centrals: [ConnectedCentral] = []
    }

    private(set) var clients: [Client] = []

    /// The sessions with the central role.
    var centrals: [ClientID] { clients.filter { $0.role == .central }.map(\.id) }

    /// The sessions with the peripheral role.
    var peripherals: [ClientID] { clients.filter { $0.role == .peripheral }.map(\.id) }

    /// The sessions of agents and test suites.
    var agents: [ClientID] { clients.filter { $0.role == .agent || $0.role == .tester }.map(\.id) }

    /// The sessions of test suites.
    var testers: [ClientID] { clients.filter { $0.role == .tester }.map(\.id) }

    func role(of client: ClientID) -> ClientRole? { clients.first { $0.id == client }?.role }

    /// The app that owns a session; `nil` if there is no such session.
    func owner(of client: ClientID) -> ClientOwner? { clients.first { $0.id == client }?.owner }

    /// Returns the phase of a client's app; `foreground` if there is no such session.
    func phase(of client: ClientID) -> AppPhase { clients.first { $0.id == client }?.phase ?? .foreground }

    mutating func changePhase(of client: ClientID, to phase: AppPhase) {
        guard let index = clients.firstIndex(where: { $0.id == client }) else { return }
        clients[index].phase = phase
    }

    /// Changes the owner of a session.
    mutating func transfer(_ client: ClientID, to owner: ClientOwner) {
        guard let index = clients.firstIndex(where: { $0.id == client }) else { return }
        clients[index].owner = owner
    }

    /// Records the list of connected centrals that a client is about to receive; returns whether the list has changed.
    mutating func noteCentrals(_ centrals: [ConnectedCentral], toldTo client: ClientID) -> Bool {
        guard let index = clients.firstIndex(where: { $0.id == client }), clients[index].centrals != centrals else {
            return false
        }
        clients[index].centrals = centrals
        return true
    }

    mutating func open(_ client: ClientID, role: ClientRole, of owner: ClientOwner) {
        precondition(self.role(of: client) == nil, "a session identifier must be unused")
        let index = clients.firstIndex { $0.id > client } ?? clients.endIndex
        clients.insert(Client(id: client, role: role, owner: owner), at: index)
    }

    /// Closes a session; returns `false` if there is no such session.
    mutating func close(_ client: ClientID) -> Bool {
        guard let index = clients.firstIndex(where: { $0.id == client }) else { return false }
        clients.remove(at: index)
        return true
    }
}
