package import BLEWire

/// The requests to one peer that clients have made and that have not started yet.
///
/// The requests of each client keep their order. Clients take turns, so that a client with many requests delays another
/// client by at most one procedure.
package struct RequestQueue: Sendable {
    private struct ClientQueue: Sendable {
        let client: ClientID
        var entries: [Entry] = []

        /// Returns the number of write commands, or of all other requests if `commands` is false.
        func count(ofCommands commands: Bool) -> Int { entries.count { $0.request.isWriteCommand == commands } }
    }

    private struct Entry: Sendable {
        let request: AttributeRequest
        let number: RequestNumber
        /// True if the request's attribute no longer exists.
        var isAboutRemoved = false
    }

    private let limit: Int
    private let commandLimit: Int
    /// The queued requests of each client that has any.
    ///
    /// The client whose turn is next comes first.
    private var queues: [ClientQueue] = []

    /// Creates a queue with a capacity of `limit` requests and `commandLimit` write commands per client.
    package init(limit: Int, commandLimit: Int) {
        self.limit = limit
        self.commandLimit = commandLimit
    }

    package var isEmpty: Bool { queues.isEmpty }

    /// Returns whether `client` has queued requests.
    package func holdsRequests(of client: ClientID) -> Bool { queues.contains { $0.client == client } }

    /// Queues a request; returns `false` if its client has reached the limit.
    package mutating func append(_ request: AttributeRequest, for requester: Requester) -> Bool {
        let entry = Entry(request: request, number: requester.number)
        guard let index = queues.firstIndex(where: { $0.client == requester.client }) else {
            queues.append(ClientQueue(client: requester.client, entries: [entry]))
            return true
        }
        let isCommand = request.isWriteCommand
        let room = isCommand ? commandLimit : limit
        guard queues[index].entries.count < room || queues[index].count(ofCommands: isCommand) < room else {
            return false
        }
        queues[index].entries.append(entry)
        return true
    }

    /// Removes and returns the next request that `mayBegin` allows to start; `nil` if there is none.
    ///
    /// A request whose attribute no longer exists (`isAboutRemoved`) is returned even if `mayBegin` does not allow it.
    package mutating func next(
        where mayBegin: (ClientID, AttributeRequest) -> Bool = { _, _ in true }
    ) -> (requester: Requester, request: AttributeRequest, isAboutRemoved: Bool)? {
        let turn = queues.firstIndex { lane in
            lane.entries.first.map { $0.isAboutRemoved || mayBegin(lane.client, $0.request) } ?? false
        }
        guard let turn else { return nil }
        var lane = queues.remove(at: turn)
        let entry = lane.entries.removeFirst()
        if !lane.entries.isEmpty { queues.append(lane) }
        return (Requester(lane.client, entry.number), entry.request, entry.isAboutRemoved)
    }

    /// True if a write command is the first queued request of any client.
    package var beginsWithCommand: Bool { queues.contains { $0.entries.first?.request.isWriteCommand ?? false } }

    /// Removes and returns a write command that is the first queued request of a client for which `mayGo` returns true.
    ///
    /// Returns `nil` if there is none.
    package mutating func nextCommand(
        where mayGo: (ClientID) -> Bool
    ) -> (client: ClientID, handle: AttributeHandle, value: [UInt8])? {
        for index in queues.indices where mayGo(queues[index].client) {
            guard case .writeCommand(let handle, let value)? = queues[index].entries.first?.request else { continue }
            let client = queues[index].client
            queues[index].entries.removeFirst()
            if queues[index].entries.isEmpty { queues.remove(at: index) }
            return (client, handle, value)
        }
        return nil
    }

    /// Removes and returns all requests from `client`, in order.
    package mutating func removeAll(of client: ClientID) -> [(number: RequestNumber, request: AttributeRequest)] {
        guard let index = queues.firstIndex(where: { $0.client == client }) else { return [] }
        return queues.remove(at: index).entries.map { ($0.number, $0.request) }
    }

    /// Marks the queued requests about attributes in `range`, because these attributes were removed.
    ///
    /// The marked requests keep their place, but must not be carried out.
    ///
    /// Write commands are removed and returned instead, client by client, because the order of their results does not
    /// matter.
    package mutating func removeRequests(about range: AttributeHandleRange) -> [(
        client: ClientID, command: AttributeRequest
    )] {
        var commands: [(client: ClientID, command: AttributeRequest)] = []
        for index in queues.indices {
            let client = queues[index].client
            for place in queues[index].entries.indices where queues[index].entries[place].request.isAbout(range) {
                queues[index].entries[place].isAboutRemoved = true
                let request = queues[index].entries[place].request
                if request.isWriteCommand { commands.append((client, request)) }
            }
            queues[index].entries.removeAll { $0.isAboutRemoved && $0.request.isWriteCommand }
        }
        queues.removeAll(where: \.entries.isEmpty)
        return commands
    }

    /// Removes and returns all requests, client by client.
    package mutating func removeAll() -> [(requester: Requester, request: AttributeRequest)] {
        defer { queues = [] }
        return queues.flatMap { lane in lane.entries.map { (Requester(lane.client, $0.number), $0.request) } }
    }
}

/// The clients' write commands that the controller has not accepted yet.
struct WriteCommands {
    private struct Command {
        let receipt: SendReceipt
        let client: ClientID
    }

    /// The maximum number of commands of one client that the controller has not accepted.
    private let share: Int
    private var commands = Fifo<Command>()

    init(share: Int = Limits().queuedFramesOfClient) { self.share = share }

    var isEmpty: Bool { commands.isEmpty }

    /// Returns whether `client` may send a command now, because few of its commands are unsent.
    func hasRoom(for client: ClientID) -> Bool {
        commands.count < share || commands.count { $0.client == client } < share
    }

    func contains(_ client: ClientID) -> Bool { commands.contains { $0.client == client } }

    mutating func append(_ receipt: SendReceipt, of client: ClientID) {
        commands.append(Command(receipt: receipt, client: client))
    }

    /// Removes the oldest write command if it was sent no later than the packet with this receipt, and returns its
    /// client; otherwise returns `nil`.
    mutating func nextTaken(upTo receipt: SendReceipt) -> ClientID? {
        guard let command = commands.first, command.receipt <= receipt else { return nil }
        return commands.popFirst()?.client
    }

    /// Removes all commands of `client` and returns how many there were.
    mutating func removeAll(of client: ClientID) -> Int {
        var others = Fifo<Command>(), count = 0
        while let command = commands.popFirst() {
            if command.client == client { count += 1 } else { others.append(command) }
        }
        commands = others
        return count
    }
}
