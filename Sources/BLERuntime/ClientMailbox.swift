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

    /// How a client hears of events.
    enum Receiver: Sendable {
        /// One by one, until the mailbox is closed.
        case each(@Sendable (ClientEvent) -> Void)
        /// All at once that have come together, unless the mailbox is closed.
        case all(@Sendable ([ClientEvent]) -> Void)
        /// What each turn brings, at once and on the thread of the turn, whose array it may keep for another.
        case inTurn(@Sendable (inout [ClientEvent]) -> Void)
    }

    private struct Contents {
        var events: [ClientEvent] = []
        /// Empty, with room for those that come while the client is being told of the present ones.
        var spare: [ClientEvent] = []
        var isScheduled = false

        /// Exchanges what is empty for all events that there are.
        mutating func take(into others: inout [ClientEvent]) {
            isScheduled = false
            swap(&events, &others)
            swap(&events, &spare)
        }
    }

    let client: ClientID
    private let queue: DispatchQueue?
    private let receiver: Receiver
    private let caughtUp: @Sendable (ClientMailbox) -> Void
    private let contents = Locked(Contents())
    private let isClosed = Atomic(false)
    /// Whether the client has heard something since it last asked for something.
    private let hasHeard = Atomic(false)

    /// Creates an empty mailbox.
    ///
    /// - Parameters:
    ///   - client: Whose it is.
    ///   - queue: The client's queue; `nil` for one that hears in the turns of the runner.
    ///   - receiver: Called on `queue` with the events.
    ///   - caughtUp: Called on `queue` when a client has heard what made it fall far behind.
    init(
        client: ClientID,
        queue: DispatchQueue?,
        receiver: Receiver,
        caughtUp: @escaping @Sendable (ClientMailbox) -> Void
    ) {
        self.client = client
        self.queue = queue
        self.receiver = receiver
        self.caughtUp = caughtUp
    }

    /// Creates an empty mailbox of a client that is told of each event by itself.
    convenience init(
        client: ClientID,
        queue: DispatchQueue,
        receive: @escaping @Sendable (ClientEvent) -> Void,
        caughtUp: @escaping @Sendable (ClientMailbox) -> Void
    ) {
        self.init(client: client, queue: queue, receiver: .each(receive), caughtUp: caughtUp)
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
        if case .inTurn(let receive) = receiver {
            if events.contains(where: { !$0.isReceipt }) { hasHeard.store(true, ordering: .relaxed) }
            receive(&events)
            events.removeAll(keepingCapacity: true)
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
        if mustSchedule { queue?.async { self.deliver() } }
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
        contents.withLock { $0.take(into: &events) }
        if events.contains(where: { !$0.isReceipt }) { hasHeard.store(true, ordering: .relaxed) }
        guard !isClosed.load(ordering: .relaxed) else { return }
        switch receiver {
        case .inTurn: break
        case .all(let receive): receive(events)
        case .each(let receive):
            for event in events {
                guard !isClosed.load(ordering: .relaxed) else { return }
                receive(event)
            }
        }
        if events.count > Self.limit { caughtUp(self) } else { giveBack(&events) }
    }

    /// Keeps the room of `events` for those that come next.
    private func giveBack(_ events: inout [ClientEvent]) {
        events.removeAll(keepingCapacity: true)
        contents.withLock { swap(&$0.spare, &events) }
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
