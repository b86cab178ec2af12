/// The order in which clients hear what came of their requests: that in which they asked.
///
/// What is answered before something that its client asked earlier is held until that is answered, too.
struct AnswerOrder {
    private struct Held {
        let requester: Requester
        let order: UInt64
        let event: PeerEvent
    }

    /// In ascending order.
    private var held: [Held] = []
    private var last: UInt64 = 0

    /// Whether nothing is held.
    var isEmpty: Bool { held.isEmpty }

    /// The number of the next request of a client that begins.
    mutating func next() -> UInt64 {
        last &+= 1
        return last
    }

    /// Keeps what came of the request with this number.
    mutating func hold(_ event: PeerEvent, for requester: Requester, order: UInt64) {
        held.insert(
            Held(requester: requester, order: order, event: event),
            at: held.firstIndex { $0.order > order } ?? held.endIndex
        )
    }

    /// Hands out the first that `client` is to hear, unless it still waits for something before that.
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
