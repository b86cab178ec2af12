import BLEHost
import Dispatch
import Synchronization

/// The events that a client has not received yet.
///
/// Only the runner adds events, a turn's worth at a time, and the client's queue takes all of them. Events are passed
/// by swapping arrays.
///
/// Sendable because any thread may signal it.
final class ClientMailbox: @unchecked Sendable {
    /// The number of waiting events beyond which advertisements are dropped.
    static let limit = 1_024

    /// The storage that the client's queue takes events from, which may outlive the mailbox by a call.
    private final class Storage: Sendable {
        let receiver: EventReceiver
        let caughtUp: @Sendable () -> Void
        let contents = Locked(Contents())
        let isClosed = Atomic(false)
        /// True if the client has received an event since its last request.
        let hasReceivedEvent = Atomic(false)
        /// The number of requests it made in response to that.
        let requestCount = Atomic(0)
        /// The loop on which the client may wait for a result.
        private let loop: EventLoop?
        /// True while the loop relies on it to wait; used on the client's queue.
        private let isWaiting = Atomic(false)

        init(_ receiver: EventReceiver, on loop: EventLoop?, caughtUp: @escaping @Sendable () -> Void) {
            self.receiver = receiver
            self.loop = loop
            self.caughtUp = caughtUp
        }

        /// Delivers all events, on the client's queue.
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
            if let loop { waitForResult(on: loop) }
        }

        /// Waits for the result in place of the loop, if the client has made a single request.
        ///
        /// Neither thread has to wake the other then. Events are delivered when the queue has finished its other work.
        /// A client with several requests is busy with the results, and leaves the waiting to the loop.
        private func waitForResult(on loop: EventLoop) {
            if requestCount.exchange(0, ordering: .relaxed) == 1 {
                let isReliedOn = loop.waitHere { contents.withLock { $0.isScheduled } }
                isWaiting.store(isReliedOn, ordering: .relaxed)
            } else if isWaiting.exchange(false, ordering: .relaxed) {
                loop.stopWaiting()
            }
        }

        /// Keeps the storage of `events` for the next ones.
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
        /// The number of sent values that need not be reported before there are more.
        var receipts = 0

        /// Records added events; returns whether the client must be notified soon.
        mutating func added(receipts: Int?) -> Bool {
            if let receipts {
                self.receipts += receipts
                guard self.receipts >= EventReceiver.worthwhileReceipts else { return false }
            }
            defer { isScheduled = true }
            return !isScheduled
        }

        /// Swaps an empty array with all events.
        mutating func take(into others: inout [ClientEvent]) {
            isScheduled = false
            receipts = 0
            swap(&events, &others)
            swap(&events, &spare)
        }
    }

    let client: ClientID
    private let storage: Storage
    /// The Dispatch source that makes the client's queue take the events; `nil` for a client that is called in turns.
    ///
    /// Created once, instead of a block per turn.
    private let deliverySource: DispatchSource?
    /// True if a small number of sent values is reported together with the next event.
    private let gathersReceipts: Bool

    /// Creates an empty mailbox.
    ///
    /// - Parameters:
    ///   - client: The client of the session.
    ///   - receiver: The way in which the client receives events.
    ///   - loop: The loop of the runner, if the client may run its turns while it waits for answers.
    ///   - caughtUp: Called on the client's queue when it has processed its backlog.
    init(
        client: ClientID,
        receiver: EventReceiver,
        on loop: EventLoop? = nil,
        caughtUp: @escaping @Sendable () -> Void
    ) {
        self.client = client
        gathersReceipts = if case .all = receiver { true } else { false }
        let storage = Storage(receiver, on: loop, caughtUp: caughtUp)
        self.storage = storage
        deliverySource = receiver.queue.map { queue in
            guard let deliverySource = DispatchSource.makeUserDataAddSource(queue: queue) as? DispatchSource else {
                preconditionFailure("Dispatch sources have a class of their own")
            }
            deliverySource.setEventHandler { storage.deliver() }
            deliverySource.activate()
            return deliverySource
        }
    }

    deinit { deliverySource?.cancel() }

    /// Takes the events, leaving `events` empty, and returns the number of waiting ones.
    ///
    /// A client that is too slow loses the oldest advertisements, and nothing else.
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
        let receipts = gathersReceipts ? events.receiptsAlone : nil
        let (mustSchedule, count) = storage.contents.withLock { contents in
            if contents.events.isEmpty {
                swap(&contents.events, &events)
            } else {
                contents.events.append(contentsOf: events)
                events.removeAll(keepingCapacity: true)
            }
            if contents.events.count > Self.limit { contents.events.dropAdvertisements() }
            return (contents.added(receipts: receipts), contents.events.count)
        }
        if mustSchedule { deliverySource?.add(data: 1) }
        return count
    }

    /// Records a request of the client; returns whether it is the first one since an event that calls for a response.
    ///
    /// Values that are sent because there is space again are not responses and will be followed by more. The same
    /// applies to data on a channel.
    func noteRequest(_ request: ClientRequest) -> Bool {
        let isFirst = storage.hasReceivedEvent.exchange(false, ordering: .relaxed)
        if case .channel = request { return isFirst }
        if isFirst {
            storage.requestCount.store(1, ordering: .relaxed)
        } else if storage.requestCount.load(ordering: .relaxed) > 0 {
            storage.requestCount.wrappingAdd(1, ordering: .relaxed)
        }
        return isFirst
    }

    /// Stops calling the client, even for waiting events.
    func close() {
        storage.isClosed.store(true, ordering: .relaxed)
        storage.contents.withLock { $0.events = [] }
    }
}

extension ClientEvent {
    /// True for events that only report sent values or octets.
    var isReceipt: Bool { if case .channel(_, .sent) = self { true } else { takenValues != nil } }

    /// The number of sent values, if the event reports nothing else.
    fileprivate var takenValues: Int? {
        switch self {
        case .peer(_, .writeCommandsTaken(let count), _), .server(.updatesTaken(let count)): count
        default: nil
        }
    }
}

extension [ClientEvent] {
    /// The number of sent values, if these events report nothing else.
    fileprivate var receiptsAlone: Int? {
        var sum = 0
        for event in self {
            guard let count = event.takenValues else { return nil }
            sum += count
        }
        return sum
    }

    /// Drops the oldest advertisements until the mailbox is within its limit or none are left.
    fileprivate mutating func dropAdvertisements() {
        var excess = count - ClientMailbox.limit
        removeAll { event in
            guard excess > 0, case .discovered = event else { return false }
            excess -= 1
            return true
        }
    }
}
