package import BLEWire

/// The queued requests of several clients to one peer.
///
/// Each client's requests keep their order. Clients take turns, so that one with many requests delays another by at
/// most one procedure.
package struct RequestQueue: Sendable {
    private struct Lane: Sendable {
        let client: ClientID
        var entries: [Entry] = []

        /// Returns the number of write commands, or of other requests.
        func count(ofCommands commands: Bool) -> Int { entries.count { $0.request.isWriteCommand == commands } }
    }

    private struct Entry: Sendable {
        let request: AttributeRequest
        let number: RequestNumber
        /// True if the attribute it concerns is gone.
        var isAboutRemoved = false
    }

    private let limit: Int
    private let commandLimit: Int
    /// The clients with queued requests, the next one first.
    private var lanes: [Lane] = []

    /// Creates a queue with a capacity of `limit` requests and `commandLimit` write commands per client.
    package init(limit: Int, commandLimit: Int) {
        self.limit = limit
        self.commandLimit = commandLimit
    }

    package var isEmpty: Bool { lanes.isEmpty }

    /// Returns whether `client` has queued requests.
    package func holdsRequests(of client: ClientID) -> Bool { lanes.contains { $0.client == client } }

    /// Queues a request; returns `false` if its client has too many.
    package mutating func append(_ request: AttributeRequest, for requester: Requester) -> Bool {
        let entry = Entry(request: request, number: requester.number)
        guard let index = lanes.firstIndex(where: { $0.client == requester.client }) else {
            lanes.append(Lane(client: requester.client, entries: [entry]))
            return true
        }
        let isCommand = request.isWriteCommand
        let room = isCommand ? commandLimit : limit
        guard lanes[index].entries.count < room || lanes[index].count(ofCommands: isCommand) < room else {
            return false
        }
        lanes[index].entries.append(entry)
        return true
    }

    /// Removes and returns the next request that can start, and whether the attribute it concerns is gone.
    package mutating func next(
        where mayBegin: (ClientID, AttributeRequest) -> Bool = { _, _ in true }
    ) -> (requester: Requester, request: AttributeRequest, isAboutRemoved: Bool)? {
        let turn = lanes.firstIndex { lane in
            lane.entries.first.map { $0.isAboutRemoved || mayBegin(lane.client, $0.request) } ?? false
        }
        guard let turn else { return nil }
        var lane = lanes.remove(at: turn)
        let entry = lane.entries.removeFirst()
        if !lane.entries.isEmpty { lanes.append(lane) }
        return (Requester(lane.client, entry.number), entry.request, entry.isAboutRemoved)
    }

    /// True if a write command without an earlier request of its client is queued.
    package var beginsWithCommand: Bool { lanes.contains { $0.entries.first?.request.isWriteCommand ?? false } }

    /// Removes and returns a write command without an earlier request, of a client that may continue.
    package mutating func nextCommand(
        where mayGo: (ClientID) -> Bool
    ) -> (client: ClientID, handle: AttributeHandle, value: [UInt8])? {
        for index in lanes.indices where mayGo(lanes[index].client) {
            guard case .writeCommand(let handle, let value)? = lanes[index].entries.first?.request else { continue }
            let client = lanes[index].client
            lanes[index].entries.removeFirst()
            if lanes[index].entries.isEmpty { lanes.remove(at: index) }
            return (client, handle, value)
        }
        return nil
    }

    /// Removes and returns all requests of `client`, in order.
    package mutating func removeAll(of client: ClientID) -> [(number: RequestNumber, request: AttributeRequest)] {
        guard let index = lanes.firstIndex(where: { $0.client == client }) else { return [] }
        return lanes.remove(at: index).entries.map { ($0.number, $0.request) }
    }

    /// Marks requests about the removed attributes in `range`, which keep their place but must not be carried out.
    ///
    /// Write commands have no result whose order matters; they are removed and returned, client by client.
    package mutating func void(about range: AttributeHandleRange) -> [(client: ClientID, command: AttributeRequest)] {
        var commands: [(client: ClientID, command: AttributeRequest)] = []
        for index in lanes.indices {
            let client = lanes[index].client
            for place in lanes[index].entries.indices where lanes[index].entries[place].request.isAbout(range) {
                lanes[index].entries[place].isAboutRemoved = true
                let request = lanes[index].entries[place].request
                if request.isWriteCommand { commands.append((client, request)) }
            }
            lanes[index].entries.removeAll { $0.isAboutRemoved && $0.request.isWriteCommand }
        }
        lanes.removeAll(where: \.entries.isEmpty)
        return commands
    }

    /// Removes and returns everything, client by client.
    package mutating func removeAll() -> [(requester: Requester, request: AttributeRequest)] {
        defer { lanes = [] }
        return lanes.flatMap { lane in lane.entries.map { (Requester(lane.client, $0.number), $0.request) } }
    }
}
