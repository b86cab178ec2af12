/// The clients' updates (new characteristic values) that have not been reported as sent.
///
/// Each update is stored with the number of its packets that the controller has not accepted yet.
package struct UnsentUpdates: Sendable {
    /// The identifier of an update.
    package struct Number: Hashable, Sendable {
        let client: ClientID
        /// The position among the updates of the client.
        ///
        /// It increases by one with each update.
        fileprivate let order: UInt64

        /// Returns whether both updates belong to the same client.
        func isOfSameClient(as other: Self) -> Bool { client == other.client }
    }

    /// The updates of one client that have not been reported to the client as sent, in order.
    private struct ClientUpdates: Sendable {
        let client: ClientID
        /// The position of the update at index 0 of ``remaining``.
        var first: UInt64
        /// The number of unsent packets of each update.
        var remaining = Fifo<Int>()

        /// Returns the index of an update of this client; `nil` if it was already reported.
        func position(of number: Number) -> Int? {
            guard number.order >= first else { return nil }
            let position = number.order - first
            return position < UInt64(remaining.count) ? Int(position) : nil
        }
    }

    /// The updates of each client that has made at least one.
    ///
    /// There are few such clients, so a linear search is fast.
    private var clientUpdates: [ClientUpdates] = []
    private var last: UInt64 = 0
    /// The number of unreported updates of all clients.
    ///
    /// The number is stored, not computed, because ``isEmpty`` is read for each update.
    private var count = 0

    package init() {}

    /// True if all updates have been sent and reported.
    package var isEmpty: Bool { count == 0 }

    /// Starts an update that consists of `packets` packets so far.
    package mutating func begin(for client: ClientID, expecting packets: Int = 0) -> Number {
        let index = clientIndex(of: client) ?? clientUpdates.count
        if index == clientUpdates.count { clientUpdates.append(ClientUpdates(client: client, first: last + 1)) }
        let order = clientUpdates[index].first + UInt64(clientUpdates[index].remaining.count)
        clientUpdates[index].remaining.append(packets)
        last = max(last, order)
        count += 1
        return Number(client: client, order: order)
    }

    /// Adds a packet to an update.
    package mutating func expect(_ number: Number) { change(number) { $0 += 1 } }

    /// Records that a packet of an update was sent, or never will be sent.
    package mutating func sent(_ number: Number) { change(number) { $0 = max(0, $0 - 1) } }

    /// Removes the updates that precede a client's first update with unsent packets, and returns how many there were.
    package mutating func collect(for client: ClientID) -> Int {
        guard let index = clientIndex(of: client) else { return 0 }
        var collected = 0
        while clientUpdates[index].remaining.first == 0 {
            _ = clientUpdates[index].remaining.popFirst()
            collected += 1
        }
        clientUpdates[index].first += UInt64(collected)
        count -= collected
        return collected
    }

    /// Returns the client of an update; `nil` if the update was already reported.
    package func client(of number: Number) -> ClientID? {
        clientIndex(of: number.client).flatMap { clientUpdates[$0].position(of: number) }.map { _ in number.client }
    }

    /// Drops the updates of a client whose session or app has ended.
    package mutating func remove(_ client: ClientID) {
        if let index = clientIndex(of: client) { count -= clientUpdates.remove(at: index).remaining.count }
    }

    private func clientIndex(of client: ClientID) -> Int? { clientUpdates.firstIndex { $0.client == client } }

    private mutating func change(_ number: Number, _ body: (inout Int) -> Void) {
        guard let index = clientIndex(of: number.client) else { return }
        if let position = clientUpdates[index].position(of: number) {
            clientUpdates[index].remaining.update(position, body)
        }
    }
}
