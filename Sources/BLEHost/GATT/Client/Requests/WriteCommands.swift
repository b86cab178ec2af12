/// The write commands of clients that the controller has not taken yet.
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

    /// Hands out the client of the next command that was taken, if the packet with this receipt was, and with it all
    /// before it.
    mutating func nextTaken(upTo receipt: SendReceipt) -> ClientID? {
        guard let command = commands.first, command.receipt <= receipt else { return nil }
        return commands.popFirst()?.client
    }

    /// Forgets those of `client`; how many there were.
    mutating func removeAll(of client: ClientID) -> Int {
        var others = Fifo<Command>(), count = 0
        while let command = commands.popFirst() {
            if command.client == client { count += 1 } else { others.append(command) }
        }
        commands = others
        return count
    }
}
