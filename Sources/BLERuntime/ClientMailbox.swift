import BLEHost
import Dispatch
import Synchronization

/// The events that one client has not heard yet.
///
/// Only the runner puts events in, a turn's worth at a time; the client's queue takes out all that there is. Events
/// change hands with the array that holds them.
final class ClientMailbox: Sendable {
    /// How many events may wait before advertisements are dropped.
    static let limit = 1_024

    private struct Contents {
        var events: [ClientEvent] = []
        var isScheduled = false
    }

    let client: ClientID
    private let queue: DispatchQueue
    private let receive: @Sendable (ClientEvent) -> Void
    private let caughtUp: @Sendable (ClientMailbox) -> Void
    private let contents = Locked(Contents())
    private let isClosed = Atomic(false)
    /// Whether the client has heard something since it last asked for something.
    private let hasHeard = Atomic(false)

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

    /// Takes events, which leaves `events` empty, and returns how many are waiting then.
    ///
    /// A client that does not keep up misses the oldest advertisements, never anything else.
    @discardableResult
    func post(_ events: inout [ClientEvent]) -> Int {
        guard !isClosed.load(ordering: .relaxed) else {
            events.removeAll()
            return 0
        }
        let (mustSchedule, count) = contents.withLock { contents in
            if contents.events.isEmpty {
                swap(&contents.events, &events)
            } else {
                contents.events.append(contentsOf: events)
                events.removeAll(keepingCapacity: true)
            }
            if contents.events.count > Self.limit { contents.events.dropAdvertisements() }
            defer { contents.isScheduled = true }
            return (!contents.isScheduled, contents.events.count)
        }
        if mustSchedule { queue.async { self.deliver() } }
        return count
    }

    /// Notes that the client asks for something; returns whether it is the first since the client was told something
    /// that calls for an answer.
    ///
    /// What it sends because it may send again is no answer, and there will be more of it.
    func isAnswered() -> Bool { hasHeard.exchange(false, ordering: .relaxed) }

    /// Calls the client no more, not even with what is waiting.
    func close() {
        isClosed.store(true, ordering: .relaxed)
        contents.withLock { $0.events = [] }
    }

    private func deliver() {
        var events: [ClientEvent] = []
        contents.withLock { contents in
            contents.isScheduled = false
            swap(&contents.events, &events)
        }
        if events.contains(where: { !$0.isReceipt }) { hasHeard.store(true, ordering: .relaxed) }
        for event in events {
            guard !isClosed.load(ordering: .relaxed) else { return }
            receive(event)
        }
        if events.count > Self.limit { caughtUp(self) } else { giveBack(&events) }
    }

    /// Keeps the room of `events` for those that come next.
    private func giveBack(_ events: inout [ClientEvent]) {
        events.removeAll(keepingCapacity: true)
        contents.withLock { contents in
            if contents.events.capacity == 0 { swap(&contents.events, &events) }
        }
    }
}

extension ClientEvent {
    /// Whether it says no more than that values have been taken, so that there is room for others.
    var isReceipt: Bool {
        switch self {
        case .peer(_, .writeCommandsTaken), .server(.updatesTaken): true
        default: false
        }
    }
}

extension [ClientEvent] {
    /// Drops the oldest advertisements until the limit of a mailbox is kept or none is left.
    fileprivate mutating func dropAdvertisements() {
        var excess = count - ClientMailbox.limit
        removeAll { event in
            guard excess > 0, case .discovered = event else { return false }
            excess -= 1
            return true
        }
    }
}
