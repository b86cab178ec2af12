import BLEHost
import Dispatch

/// The events that one client has not heard yet.
///
/// Only the runner's queue puts events in, a turn's worth at a time; the client's queue takes out all that there is.
final class ClientMailbox: Sendable {
    /// How many events may wait before advertisements are dropped.
    static let limit = 1_024

    fileprivate struct Contents {
        var events: [ClientEvent] = []
        var isScheduled = false
        var isClosed = false
    }

    let client: ClientID
    private let queue: DispatchQueue
    private let receive: @Sendable (ClientEvent) -> Void
    private let caughtUp: @Sendable (ClientMailbox) -> Void
    private let contents = Locked(Contents())

    /// Creates an empty mailbox.
    ///
    /// - Parameters:
    ///   - client: Whose it is.
    ///   - queue: The client's queue.
    ///   - receive: Called on `queue` with each event.
    ///   - caughtUp: Called on `queue` when a client has heard what made it fall far behind.
    init(
        client: ClientID,
        queue: DispatchQueue,
        receive: @escaping @Sendable (ClientEvent) -> Void,
        caughtUp: @escaping @Sendable (ClientMailbox) -> Void
    ) {
        self.client = client
        self.queue = queue
        self.receive = receive
        self.caughtUp = caughtUp
    }

    /// Adds events, and returns how many are waiting then.
    ///
    /// A client that does not keep up misses the oldest advertisements, never anything else.
    @discardableResult
    func post(_ events: [ClientEvent]) -> Int {
        let (mustSchedule, count) = contents.withLock { contents in
            guard !contents.isClosed else { return (false, 0) }
            contents.events.append(contentsOf: events)
            if contents.events.count > Self.limit { contents.dropAdvertisements() }
            defer { contents.isScheduled = true }
            return (!contents.isScheduled, contents.events.count)
        }
        if mustSchedule { queue.async { self.deliver() } }
        return count
    }

    /// Calls the client no more, not even with what is waiting.
    func close() {
        contents.withLock { contents in
            contents.isClosed = true
            contents.events = []
        }
    }

    private func deliver() {
        let events = contents.withLock { contents in
            contents.isScheduled = false
            defer { contents.events = [] }
            return contents.events
        }
        for event in events {
            guard !contents.withLock({ $0.isClosed }) else { return }
            receive(event)
        }
        if events.count > Self.limit { caughtUp(self) }
    }
}

extension ClientMailbox.Contents {
    /// Drops the oldest advertisements until the limit is kept or none is left.
    fileprivate mutating func dropAdvertisements() {
        var excess = events.count - ClientMailbox.limit
        events.removeAll { event in
            guard excess > 0, case .discovered = event else { return false }
            excess -= 1
            return true
        }
    }
}
