/// Which updates of clients have not yet left the host for all of those that they are meant for.
package struct UpdateLedger: Sendable {
    /// Names an update.
    package struct Number: Hashable, Sendable {
        fileprivate let rawValue: UInt64
    }

    private struct Update: Sendable {
        let number: Number
        let client: ClientID
        /// How many packets are not with the controller yet.
        var remaining: Int
    }

    /// In the order in which they were asked for.
    private var updates: [Update] = []
    private var last: UInt64 = 0

    package init() {}

    /// Whether all updates have left, and their clients know.
    var isEmpty: Bool { updates.isEmpty }

    /// Begins an update that goes to nobody yet.
    package mutating func begin(for client: ClientID) -> Number {
        last += 1
        let number = Number(rawValue: last)
        updates.append(Update(number: number, client: client, remaining: 0))
        return number
    }

    /// Notes that the update goes to one more.
    package mutating func expect(_ number: Number) {
        guard let index = index(of: number) else { return }
        updates[index].remaining += 1
    }

    /// Notes that the packet for one of them has left, or never will.
    package mutating func settle(_ number: Number) {
        guard let index = index(of: number), updates[index].remaining > 0 else { return }
        updates[index].remaining -= 1
    }

    /// How many updates of this client have left since it was told last, in the order in which it asked for them.
    package mutating func collect(for client: ClientID) -> Int {
        var count = 0, index = 0
        while index < updates.count {
            guard updates[index].client == client else {
                index += 1
                continue
            }
            guard updates[index].remaining == 0 else { break }
            updates.remove(at: index)
            count += 1
        }
        return count
    }

    /// Whom the update belongs to; `nil` once it has been told of.
    package func client(of number: Number) -> ClientID? { index(of: number).map { updates[$0].client } }

    /// Forgets the updates of a client.
    package mutating func remove(_ client: ClientID) { updates.removeAll { $0.client == client } }

    private func index(of number: Number) -> Int? {
        let index = updates.indices.bisected { updates[$0].number.rawValue < number.rawValue }
        return index < updates.count && updates[index].number == number ? index : nil
    }
}
