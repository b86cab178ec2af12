package import BLEHost
package import Dispatch

/// The function with which a client receives events, and the queue or thread on which it is called.
package enum EventReceiver: Sendable {
    /// One by one, on a queue.
    case each(on: DispatchQueue, @Sendable (ClientEvent) -> Void)
    /// All waiting events together, on a queue.
    ///
    /// The function may remove the events from the array, whose storage is reused. Sent values are not reported
    /// immediately, but with the next event, or when there are ``worthwhileReceipts`` of them.
    case all(on: DispatchQueue, @Sendable (inout [ClientEvent]) -> Void)
    /// All events from one turn of the host together, during that turn; the function must return quickly.
    ///
    /// The function may swap the array with an empty one. A host without turns calls the function for each event.
    case inTurn(@Sendable (inout [ClientEvent]) -> Void)

    /// The number of sent values that are enough to be reported without waiting for another event.
    ///
    /// A client that waits for space has sent at least this many values that have not been reported, so it does not
    /// wait indefinitely.
    package static let worthwhileReceipts = 16

    /// The queue of the client; `nil` if the client may be called on any thread.
    package var queue: DispatchQueue? {
        switch self {
        case .each(let queue, _), .all(let queue, _): queue
        case .inTurn: nil
        }
    }

    /// Delivers one event.
    ///
    /// Must be called on the client's queue if it has one.
    package func deliver(_ event: ClientEvent) {
        switch self {
        case .each(_, let receive): receive(event)
        case .all(_, let receive), .inTurn(let receive):
            var events = [event]
            receive(&events)
        }
    }
}
