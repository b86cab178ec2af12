import BLEHost
import Dispatch
import Synchronization

/// A queue of the events that a client has not received yet.
///
/// The thread that holds the loop's lock adds all events of a turn together. The client's queue then takes all waiting
/// events. Both sides swap arrays instead of copying events.
///
/// Sendable because any thread may signal the Dispatch source, and everything else is Sendable.
final class ClientMailbox: @unchecked Sendable {
    /// The number of waiting events above which the oldest advertisements are dropped.
    static let limit = 1_024

    /// The part of the mailbox that the client's queue uses; it stays alive during a delivery, even if the mailbox is
    /// released.
    private final class Storage: Sendable {
        let receiver: EventReceiver
        let caughtUp: @Sendable () -> Void
        let contents = Locked(Contents())
        let isClosed = Atomic(false)
        /// True if, since its last request, the client has received an event that calls for a response.
        let hasReceivedEvent = Atomic(false)
        init(_ receiver: EventReceiver, caughtUp: @escaping @Sendable () -> Void) {
            self.receiver = receiver
            self.caughtUp = caughtUp
        }

        /// Delivers all waiting events.
        ///
        /// Called on the client's queue.
        func deliver() {
            var events: [ClientEvent] = []
            contents.withLock { $0.take(into: &events) }
            if events.contains(where: { !$0.isReceipt }) { hasReceivedEvent.store(true, ordering: .relaxed) }
            let count = events.count
            guard !isClosed.load(ordering: .relaxed) else { return }
            switch receiver {
            case .inTurn: break
            case .all(_, let receive): receive(&events)
            case .each(_, let receive):
                for event in events {
                    guard !isClosed.load(ordering: .relaxed) else { return }
                    receive(event)
                }
            }
            if count > ClientMailbox.limit { caughtUp() } else { recycle(&events) }
        }

        /// Reuses the storage of `events` for later events.
        private func recycle(_ events: inout [ClientEvent]) {
            events.removeAll(keepingCapacity: true)
            contents.withLock { swap(&$0.spare, &events) }
        }
    }

    private struct Contents {
        var events: [ClientEvent] = []
        /// An empty array with storage for events that arrive while the current ones are delivered.
        var spare: [ClientEvent] = []
        var isScheduled = false
        /// The number of sent values that have not been reported to the client, because they are too few to be worth a
        /// call.
        var receipts = 0
        /// The advertisements that this mailbox has dropped.
        var dropped = DroppedReports()

        /// Records that events were added; returns whether the client's queue must be signalled.
        ///
        /// `receipts` is the number of sent values that the events report, or `nil` if any event reports something
        /// else.
        mutating func added(receipts: Int?) -> Bool {
            if let receipts {
                self.receipts += receipts
                guard self.receipts >= EventReceiver.worthwhileReceipts else { return false }
            }
            defer { isScheduled = true }
            return !isScheduled
        }

        /// Moves all waiting events into `others`, which must be empty.
        mutating func take(into others: inout [ClientEvent]) {
            isScheduled = false
            receipts = 0
            dropped.caughtUp()
            swap(&events, &others)
            swap(&events, &spare)
        }
    }

    let client: ClientID
    private let storage: Storage
    /// The Dispatch source that makes the client's queue take the events; `nil` for a client that is called during the
    /// host's turns.
    ///
    /// The source is created once, which is cheaper than a block for each turn.
    private let deliverySource: DispatchSource?
    /// True if a few sent values are not reported immediately, but together with the next event.
    private let gathersReceipts: Bool
    private let losing: @Sendable () -> Void
    /// The advertisements that this mailbox has dropped, as of the last call of ``post(_:)``; used only by the callers
    /// of that method.
    private(set) var latestLosses = DroppedReports()
    /// The number of the client's advertisements that the daemon has dropped; 0 for a host in this process.
    let droppedByDaemon = Atomic<UInt64>(0)

    /// Creates an empty mailbox.
    ///
    /// - Parameters:
    ///   - client: The client of the session.
    ///   - receiver: The function that receives the client's events.
    ///   - losing: Called by ``post(_:)`` when it drops the first advertisement of a burst.
    ///   - caughtUp: Called on the client's queue after more than ``limit`` events have been delivered together.
    init(
        client: ClientID,
        receiver: EventReceiver,
        losing: @escaping @Sendable () -> Void = {},
        caughtUp: @escaping @Sendable () -> Void
    ) {
        self.client = client
        self.losing = losing
        gathersReceipts = if case .all = receiver { true } else { false }
        let storage = Storage(receiver, caughtUp: caughtUp)
        self.storage = storage
        deliverySource = receiver.queue.map { queue in
            guard let deliverySource = DispatchSource.makeUserDataAddSource(queue: queue) as? DispatchSource else {
                preconditionFailure("a user data source is a DispatchSource")
            }
            deliverySource.setEventHandler { storage.deliver() }
            deliverySource.activate()
            return deliverySource
        }
    }

    deinit { deliverySource?.cancel() }

    /// Moves `events` into the mailbox, and returns the number of events that wait in it.
    ///
    /// A client that is too slow loses the oldest advertisements, but no other events. A client that is called during
    /// the host's turns receives the events immediately. A closed mailbox drops them.
    @discardableResult
    func post(_ events: inout [ClientEvent]) -> Int {
        guard !storage.isClosed.load(ordering: .relaxed) else {
            events.removeAll()
            return 0
        }
        if case .inTurn(let receive) = storage.receiver {
            if events.contains(where: { !$0.isReceipt }) { storage.hasReceivedEvent.store(true, ordering: .relaxed) }
            receive(&events)
            events.removeAll(keepingCapacity: true)
            return 0
        }
        let receipts = gathersReceipts ? events.sentValueCount : nil
        let (mustSchedule, count, beginsToLose, losses) = storage.contents.withLock { contents in
            if contents.events.isEmpty {
                swap(&contents.events, &events)
            } else {
                contents.events.append(contentsOf: events)
                events.removeAll(keepingCapacity: true)
            }
            var beginsToLose = false
            if contents.events.count > Self.limit {
                beginsToLose = contents.dropped.add(contents.events.dropAdvertisements())
            }
            return (contents.added(receipts: receipts), contents.events.count, beginsToLose, contents.dropped)
        }
        latestLosses = losses
        if mustSchedule { deliverySource?.add(data: 1) }
        if beginsToLose { losing() }
        return count
    }

    /// The number of advertisements that the client has lost because it is too slow, including those that the daemon
    /// has dropped.
    var droppedReports: UInt64 {
        storage.contents.withLock { $0.dropped.total } &+ droppedByDaemon.load(ordering: .relaxed)
    }

    /// Records a request from the client; returns whether it is the first one since an event that calls for a response.
    ///
    /// An event that only reports sent values or octets calls for no response: a client that then continues to send is
    /// not responding, and will make more requests.
    func noteRequest() -> Bool { storage.hasReceivedEvent.exchange(false, ordering: .relaxed) }

    /// Stops calling the client, and drops the waiting events.
    func close() {
        storage.isClosed.store(true, ordering: .relaxed)
        storage.contents.withLock { $0.events = [] }
    }
}

extension ClientEvent {
    /// True for events that only report that values or octets were sent.
    var isReceipt: Bool { if case .channel(_, .sent) = self { true } else { takenValues != nil } }

    /// The number of sent values that the event reports; `nil` if it reports something else.
    fileprivate var takenValues: Int? {
        switch self {
        case .peer(_, .writeCommandsTaken(let count), _), .server(.updatesTaken(let count)): count
        default: nil
        }
    }
}

extension [ClientEvent] {
    /// The total number of sent values; `nil` if any of the events reports something else.
    fileprivate var sentValueCount: Int? {
        var sum = 0
        for event in self {
            guard let count = event.takenValues else { return nil }
            sum += count
        }
        return sum
    }

    /// Drops the oldest advertisements until the mailbox is within its limit or none are left; returns the number
    /// dropped.
    fileprivate mutating func dropAdvertisements() -> Int {
        let before = count
        var excess = before - ClientMailbox.limit
        removeAll { event in
            guard excess > 0, case .discovered = event else { return false }
            excess -= 1
            return true
        }
        return before - count
    }
}
