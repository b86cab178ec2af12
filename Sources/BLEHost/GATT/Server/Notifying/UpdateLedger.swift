/// Which updates of clients have not yet left the host for all of those that they are meant for.
package struct UpdateLedger: Sendable {
    /// Names an update.
    package struct Number: Hashable, Sendable {
        let client: ClientID
        /// Those of one client follow one another.
        fileprivate let order: UInt64

        /// Whether one client asked for both.
        func isOfSameClient(as other: Self) -> Bool { client == other.client }
    }

    /// The updates of one client of which it has not been told, in the order in which it asked for them.
    private struct Account: Sendable {
        let client: ClientID
        /// The first of ``remaining``.
        var first: UInt64
        /// How many packets of each are not with the controller yet.
        var remaining = Fifo<Int>()

        /// Where an update of this client is; `nil` if it has been told.
        func position(of number: Number) -> Int? {
            guard number.order >= first else { return nil }
            let position = number.order - first
            return position < UInt64(remaining.count) ? Int(position) : nil
        }
    }

    /// One for each client that has asked for an update; there are few.
    private var accounts: [Account] = []
    private var last: UInt64 = 0
    /// How many updates there are; kept, since it is asked for each update.
    private var count = 0

    package init() {}

    /// Whether all updates have left, and their clients know.
    package var isEmpty: Bool { count == 0 }

    /// Begins an update that goes to so many.
    package mutating func begin(for client: ClientID, expecting packets: Int = 0) -> Number {
        let index = account(of: client) ?? accounts.count
        if index == accounts.count { accounts.append(Account(client: client, first: last + 1)) }
        let order = accounts[index].first + UInt64(accounts[index].remaining.count)
        accounts[index].remaining.append(packets)
        last = max(last, order)
        count += 1
        return Number(client: client, order: order)
    }

    /// Notes that the update goes to one more.
    package mutating func expect(_ number: Number) { change(number) { $0 += 1 } }

    /// Notes that the packet for one of them has left, or never will.
    package mutating func sent(_ number: Number) { change(number) { $0 = max(0, $0 - 1) } }

    /// How many updates of this client have left since it was told last, in the order in which it asked for them.
    package mutating func collect(for client: ClientID) -> Int {
        guard let index = account(of: client) else { return 0 }
        var collected = 0
        while accounts[index].remaining.first == 0 {
            _ = accounts[index].remaining.popFirst()
            collected += 1
        }
        accounts[index].first += UInt64(collected)
        count -= collected
        return collected
    }

    /// Whom the update belongs to; `nil` once it has been told of.
    package func client(of number: Number) -> ClientID? {
        account(of: number.client).flatMap { accounts[$0].position(of: number) }.map { _ in number.client }
    }

    /// Forgets the updates of a client.
    package mutating func remove(_ client: ClientID) {
        if let index = account(of: client) { count -= accounts.remove(at: index).remaining.count }
    }

    private func account(of client: ClientID) -> Int? { accounts.firstIndex { $0.client == client } }

    private mutating func change(_ number: Number, _ body: (inout Int) -> Void) {
        guard let index = account(of: number.client) else { return }
        if let position = accounts[index].position(of: number) { accounts[index].remaining.update(position, body) }
    }
}
