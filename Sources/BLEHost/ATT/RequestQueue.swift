package import BLEWire

/// Requests of several clients to one peer that wait for their turn.
///
/// Each client's requests keep their order; between clients the turn goes round, so that one that asks a lot delays
/// another by one procedure at most.
package struct RequestQueue: Sendable {
    private struct Lane: Sendable {
        let client: ClientID
        var requests: [PeerRequest] = []

        /// How many of the requests are write commands, or how many are not.
        func count(ofCommands commands: Bool) -> Int { requests.count { $0.isWriteCommand == commands } }
    }

    private let limit: Int
    private let commandLimit: Int
    /// Lanes with something in them, the one whose turn is next first.
    private var lanes: [Lane] = []

    /// Creates a queue that holds at most `limit` requests and `commandLimit` write commands of each client.
    package init(limit: Int, commandLimit: Int) {
        self.limit = limit
        self.commandLimit = commandLimit
    }

    package var isEmpty: Bool { lanes.isEmpty }

    /// Whether something of `client` waits.
    package func holdsRequests(of client: ClientID) -> Bool { lanes.contains { $0.client == client } }

    /// Takes a request, or refuses it and returns `false` if too many of its client wait.
    package mutating func append(_ request: PeerRequest, for client: ClientID) -> Bool {
        guard let index = lanes.firstIndex(where: { $0.client == client }) else {
            lanes.append(Lane(client: client, requests: [request]))
            return true
        }
        let isCommand = request.isWriteCommand
        let room = isCommand ? commandLimit : limit
        guard lanes[index].requests.count < room || lanes[index].count(ofCommands: isCommand) < room else {
            return false
        }
        lanes[index].requests.append(request)
        return true
    }

    /// Hands out the request whose turn it is.
    package mutating func next() -> (client: ClientID, request: PeerRequest)? {
        guard !lanes.isEmpty else { return nil }
        var lane = lanes.removeFirst()
        let request = lane.requests.removeFirst()
        if !lane.requests.isEmpty { lanes.append(lane) }
        return (lane.client, request)
    }

    /// Hands out a write command that no earlier request of its client precedes any more, unless its client is blocked.
    package mutating func nextCommand(
        blocking blocked: ClientID?
    ) -> (client: ClientID, handle: AttributeHandle, value: [UInt8])? {
        for index in lanes.indices where lanes[index].client != blocked {
            guard case .writeCommand(let handle, let value)? = lanes[index].requests.first else { continue }
            let client = lanes[index].client
            lanes[index].requests.removeFirst()
            if lanes[index].requests.isEmpty { lanes.remove(at: index) }
            return (client, handle, value)
        }
        return nil
    }

    /// Hands out all requests of `client`, in order.
    package mutating func removeAll(of client: ClientID) -> [PeerRequest] {
        guard let index = lanes.firstIndex(where: { $0.client == client }) else { return [] }
        return lanes.remove(at: index).requests
    }

    /// Hands out everything, client by client.
    package mutating func removeAll() -> [(client: ClientID, request: PeerRequest)] {
        defer { lanes = [] }
        return lanes.flatMap { lane in lane.requests.map { (lane.client, $0) } }
    }
}

extension PeerRequest {
    fileprivate var isWriteCommand: Bool {
        if case .writeCommand = self { true } else { false }
    }
}
