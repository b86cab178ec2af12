package import BLEHost
package import Dispatch

/// The way in which a client receives events.
package enum EventReceiver: Sendable {
    /// One by one, on a queue.
    case each(on: DispatchQueue, @Sendable (ClientEvent) -> Void)
    /// All waiting events at once, on a queue.
    ///
    /// The events may be removed from the array, whose storage is reused. Sent values are reported with the next event,
    /// or when there are ``worthwhileReceipts`` of them.
    case all(on: DispatchQueue, @Sendable (inout [ClientEvent]) -> Void)
    /// The events of each turn of the host, during the turn; the call must be short.
    ///
    /// The array may be swapped with an empty one. A host without turns passes each event separately.
    case inTurn(@Sendable (inout [ClientEvent]) -> Void)

    /// The number of sent values that is reported without another event.
    ///
    /// A client that waits for space has at least as many unreported values.
    package static let worthwhileReceipts = 16

    /// The queue of the client; `nil` if it can be called anywhere.
    package var queue: DispatchQueue? {
        switch self {
        case .each(let queue, _), .all(let queue, _): queue
        case .inTurn: nil
        }
    }

    /// Delivers one event, on the client's queue if it has one.
    package func hear(_ event: ClientEvent) {
        switch self {
        case .each(_, let receive): receive(event)
        case .all(_, let receive), .inTurn(let receive):
            var events = [event]
            receive(&events)
        }
    }
}
