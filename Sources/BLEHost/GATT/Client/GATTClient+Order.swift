import BLEWire

// Clients hear of what they asked for in the order in which they asked.
extension GATTClient {
    /// What came of a request whose client asked for something before that is not answered yet.
    struct Held {
        let client: ClientID
        let order: UInt64
        let event: PeerEvent
    }

    mutating func nextOrder() -> UInt64 {
        lastOrder &+= 1
        return lastOrder
    }

    /// Tells a client what came of a request when its turn comes, and what had to wait for that.
    mutating func tell(_ client: ClientID, _ event: PeerEvent, order: UInt64, into outbox: inout Outbox) {
        if held.isEmpty, !isUnderWay(before: order, for: client) { return outbox.tell(client, of: .peer(peer, event)) }
        held.insert(
            Held(client: client, order: order, event: event),
            at: held.firstIndex { $0.order > order } ?? held.endIndex
        )
        while let index = held.firstIndex(where: { $0.client == client }) {
            guard !isUnderWay(before: held[index].order, for: client) else { return }
            outbox.tell(client, of: .peer(peer, held.remove(at: index).event))
        }
    }

    private func isUnderWay(before order: UInt64, for client: ClientID) -> Bool {
        func precedes(_ other: Running?) -> Bool {
            guard let other else { return false }
            return other.owner == .client(client) && other.order < order
        }
        if enhanced.isEmpty, stalled.isEmpty { return precedes(running) }
        return precedes(running) || enhanced.contains { precedes($0.running) } || stalled.contains { precedes($0) }
    }

    /// Answers what is under way for a client, or for all, none of which will hear what comes of it.
    mutating func failRunning(of client: ClientID? = nil, with failure: Failure, into outbox: inout Outbox) {
        let lost = (([running] + enhanced.map(\.running)).compactMap(\.self) + stalled).filter { one in
            guard case .client(let owner) = one.owner else { return false }
            return client ?? owner == owner
        }
        // One after the other, so that what is held for those that are still under way keeps its place.
        for one in lost.sorted(by: { $0.order < $1.order }) {
            withdraw(one.order, with: failure)
            fail(one, with: failure, into: &outbox)
        }
    }

    /// Leaves what comes of a client's request to nobody.
    private mutating func withdraw(_ order: UInt64, with failure: Failure) {
        func withdraw(_ current: inout Running?) {
            guard current?.order == order else { return }
            current?.owner = .nobody
            current?.procedure.withdraw(failure)
        }
        withdraw(&running)
        stalled.removeAll { $0.order == order }
        for index in enhanced.indices { withdraw(&enhanced[index].running) }
    }
}
