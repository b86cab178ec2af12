/// The results that wait to be delivered to clients in the order of their requests.
///
/// A result is held until the client has the results of its earlier requests.
struct ResultOrder {
    private struct Held {
        let requester: Requester
        let order: UInt64
        let event: PeerEvent
    }

    /// The held results, in ascending order of their requests.
    private var held: [Held] = []
    private var last: UInt64 = 0

    /// True if no results are held.
    var isEmpty: Bool { held.isEmpty }

    /// Returns the number of the request that starts now; later requests get higher numbers.
    mutating func next() -> UInt64 {
        last &+= 1
        return last
    }

    /// Holds the result of the request with sequence number `order`.
    mutating func hold(_ event: PeerEvent, for requester: Requester, order: UInt64) {
        held.insert(
            Held(requester: requester, order: order, event: event),
            at: held.firstIndex { $0.order > order } ?? held.endIndex
        )
    }

    /// Removes and returns the first held result of `client`.
    ///
    /// Returns `nil` if there is none, or if `waits` returns true for the number of its request, because the client
    /// still waits for an earlier result.
    mutating func release(to client: ClientID, unless waits: (UInt64) -> Bool) -> (
        event: PeerEvent, number: RequestNumber
    )? {
        guard let index = held.firstIndex(where: { $0.requester.client == client }), !waits(held[index].order) else {
            return nil
        }
        let next = held.remove(at: index)
        return (next.event, next.requester.number)
    }
}
