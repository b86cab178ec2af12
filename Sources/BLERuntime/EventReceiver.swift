package import BLEHost
package import Dispatch

/// How a client hears what its host says.
package enum EventReceiver: Sendable {
    /// One by one, on a queue.
    case each(on: DispatchQueue, @Sendable (ClientEvent) -> Void)
    /// All at once that have come together, on a queue.
    ///
    /// The events may be taken out of the array, whose room is used again. That the host took some values is told with
    /// what comes next, or when there are ``worthwhileReceipts`` of them.
    case all(on: DispatchQueue, @Sendable (inout [ClientEvent]) -> Void)
    /// What each turn of the host brings, in that turn, which must not be kept for long.
    ///
    /// The array may be exchanged for an empty one. A host that has no turns of its own tells of each event by itself.
    case inTurn(@Sendable (inout [ClientEvent]) -> Void)

    /// How many values the host must have taken for a queue to be woken for that alone.
    ///
    /// Who waits for room has at least as many on their way beyond those that it has not been told of.
    package static let worthwhileReceipts = 16

    /// Where the client wants to be told; `nil` if that is anywhere.
    package var queue: DispatchQueue? {
        switch self {
        case .each(let queue, _), .all(let queue, _): queue
        case .inTurn: nil
        }
    }

    /// Tells the client of one event; on its queue, if it has one.
    package func hear(_ event: ClientEvent) {
        switch self {
        case .each(_, let receive): receive(event)
        case .all(_, let receive), .inTurn(let receive):
            var events = [event]
            receive(&events)
        }
    }
}
