/// The clients' write commands that the controller has not accepted yet.
struct WriteCommands {
    private struct Command {
        let receipt: SendReceipt
        let client: ClientID
    }

    private var commands = Fifo<Command>()

    var isEmpty: Bool { commands.isEmpty }

    func contains(_ client: ClientID) -> Bool { commands.contains { $0.client == client } }

    mutating func append(_ receipt: SendReceipt, of client: ClientID) {
        commands.append(Command(receipt: receipt, client: client))
    }

    /// Removes the oldest write command if it was sent no later than the packet with this receipt, and returns its
    /// client.
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
