import BLEWire

/// The values that wait on one bearer because their clients have too many values that the controller has not accepted.
///
/// Each client has a queue of its own, so a client with many values does not delay those of another client.
struct HeldValues {
    private struct ClientQueue {
        let client: ClientID
        var values = Fifo<OutgoingUpdates.Value>()
    }

    /// The maximum number of values of one client.
    private let limit: Int
    /// The queues of the clients that have held values.
    private var queues: [ClientQueue] = []

    init(limit: Int) { self.limit = limit }

    var isEmpty: Bool { queues.isEmpty }

    func contains(_ client: ClientID) -> Bool { queues.contains { $0.client == client } }

    /// Adds a value; returns `false` if its client has too many.
    mutating func append(_ value: OutgoingUpdates.Value) -> Bool {
        let client = value.number.client
        let index = queues.firstIndex { $0.client == client } ?? queues.count
        guard limit > (index < queues.count ? queues[index].values.count : 0) else { return false }
        if index == queues.count { queues.append(ClientQueue(client: client)) }
        queues[index].values.append(value)
        return true
    }

    /// Removes and returns the oldest value of the first client for which `hasRoom` returns true; `nil` if there is
    /// none.
    mutating func next(where hasRoom: (ClientID) -> Bool) -> OutgoingUpdates.Value? {
        guard let index = queues.firstIndex(where: { hasRoom($0.client) }) else { return nil }
        defer { if queues[index].values.isEmpty { queues.remove(at: index) } }
        return queues[index].values.popFirst()
    }

    /// Removes and returns all values, client by client.
    mutating func removeAll() -> [OutgoingUpdates.Value] {
        var removed: [OutgoingUpdates.Value] = []
        while let value = next(where: { _ in true }) { removed.append(value) }
        return removed
    }

    /// Removes and returns the values of one attribute, client by client.
    mutating func removeAll(of handle: AttributeHandle) -> [OutgoingUpdates.Value] {
        let all = removeAll()
        for value in all where value.handle != handle { _ = append(value) }
        return all.filter { $0.handle == handle }
    }
}
