import BLEHost
import Dispatch
import Synchronization

/// The events that one client has not heard yet.
///
/// Only the runner puts events in, a turn's worth at a time; the client's queue takes out all that there is. Events
/// change hands with the array that holds them.
///
/// Sendable because any thread may ring.
final class ClientMailbox: @unchecked Sendable {
    /// How many events may wait before advertisements are dropped.
    static let limit = 1_024

    /// What the client's queue takes events out of, which may outlive the mailbox by a call.
    private final class Shelf: Sendable {
        let receiver: EventReceiver
        let caughtUp: @Sendable () -> Void
        let contents = Locked(Contents())
        let isClosed = Atomic(false)
        /// Whether the client has heard something since it last asked for something.
        let hasHeard = Atomic(false)
        /// How many things it has asked for because of that.
        let questions = Atomic(0)
        /// Where the client may wait for an answer.
        private let loop: EventLoop?
        /// Whether the loop relies on it to; on the client's queue.
        private let isWaiting = Atomic(false)

        init(_ receiver: EventReceiver, on loop: EventLoop?, caughtUp: @escaping @Sendable () -> Void) {
            self.receiver = receiver
            self.loop = loop
            self.caughtUp = caughtUp
        }

        /// Tells the client of all that there is; on its queue.
        func deliver() {
            var events: [ClientEvent] = []
            contents.withLock { $0.take(into: &events) }
            if events.contains(where: { !$0.isReceipt }) { hasHeard.store(true, ordering: .relaxed) }
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
            if count > ClientMailbox.limit { caughtUp() } else { giveBack(&events) }
            if let loop { awaitAnswer(on: loop) }
        }

        /// Waits for the answer if the client has asked for one thing, in place of the loop.
        ///
        /// So neither has to wake the other; what comes is delivered when the queue has done what else there is for it.
        /// Who asks for more is kept busy by the answers, and leaves the waiting to the loop.
        private func awaitAnswer(on loop: EventLoop) {
            if questions.exchange(0, ordering: .relaxed) == 1 {
                let goesOn = loop.waitHere { contents.withLock { $0.isScheduled } }
                isWaiting.store(goesOn, ordering: .relaxed)
            } else if isWaiting.exchange(false, ordering: .relaxed) {
                loop.stopWaiting()
            }
        }

        /// Keeps the room of `events` for those that come next.
        private func giveBack(_ events: inout [ClientEvent]) {
            events.removeAll(keepingCapacity: true)
            contents.withLock { swap(&$0.spare, &events) }
        }
    }

    private struct Contents {
        var events: [ClientEvent] = []
        /// Empty, with room for those that come while the client is being told of the present ones.
        var spare: [ClientEvent] = []
        var isScheduled = false
        /// How many values the host took, of which the client need not be told before there are more.
        var receipts = 0

        /// Notes what was added; returns whether the client must be told of it soon.
        mutating func added(receipts: Int?) -> Bool {
            if let receipts {
                self.receipts += receipts
                guard self.receipts >= EventReceiver.worthwhileReceipts else { return false }
            }
            defer { isScheduled = true }
            return !isScheduled
        }

        /// Exchanges what is empty for all events that there are.
        mutating func take(into others: inout [ClientEvent]) {
            isScheduled = false
            receipts = 0
            swap(&events, &others)
            swap(&events, &spare)
        }
    }

    let client: ClientID
    private let shelf: Shelf
    /// Has the client's queue take out what there is; `nil` for a client that hears in turns.
    ///
    /// It is made once, where a block would be made for each turn.
    private let bell: DispatchSource?
    /// Whether the client is told of few values that were taken with what comes next.
    private let gathersReceipts: Bool

    /// Creates an empty mailbox.
    ///
    /// - Parameters:
    ///   - client: Whose it is.
    ///   - receiver: How the client hears of events.
    ///   - loop: The loop of the runner, if the client may wait for answers in its place.
    ///   - caughtUp: Called on the client's queue when it has heard what made it fall far behind.
    init(
        client: ClientID,
        receiver: EventReceiver,
        on loop: EventLoop? = nil,
        caughtUp: @escaping @Sendable () -> Void
    ) {
        self.client = client
        gathersReceipts = if case .all = receiver { true } else { false }
        let shelf = Shelf(receiver, on: loop, caughtUp: caughtUp)
        self.shelf = shelf
        bell = receiver.queue.map { queue in
            guard let bell = DispatchSource.makeUserDataAddSource(queue: queue) as? DispatchSource else {
                preconditionFailure("what Dispatch makes is a source of its own class")
            }
            bell.setEventHandler { shelf.deliver() }
            bell.activate()
            return bell
        }
    }

    deinit { bell?.cancel() }

    /// Takes events, which leaves `events` empty, and returns how many are waiting then.
    ///
    /// A client that does not keep up misses the oldest advertisements, never anything else.
    @discardableResult
    func post(_ events: inout [ClientEvent]) -> Int {
        guard !shelf.isClosed.load(ordering: .relaxed) else {
            events.removeAll()
            return 0
        }
        if case .inTurn(let receive) = shelf.receiver {
            if events.contains(where: { !$0.isReceipt }) { shelf.hasHeard.store(true, ordering: .relaxed) }
            receive(&events)
            events.removeAll(keepingCapacity: true)
            return 0
        }
        let receipts = gathersReceipts ? events.receiptsAlone : nil
        let (mustSchedule, count) = shelf.contents.withLock { contents in
            if contents.events.isEmpty {
                swap(&contents.events, &events)
            } else {
                contents.events.append(contentsOf: events)
                events.removeAll(keepingCapacity: true)
            }
            if contents.events.count > Self.limit { contents.events.dropAdvertisements() }
            return (contents.added(receipts: receipts), contents.events.count)
        }
        if mustSchedule { bell?.add(data: 1) }
        return count
    }

    /// Notes that the client asks for this; returns whether it is the first since the client was told something that
    /// calls for an answer.
    ///
    /// What it sends because it may send again is no answer, and there will be more of it. So will there be of what
    /// goes through a channel, and its client has better to do than to wait for it.
    func isAnswered(by request: ClientRequest) -> Bool {
        let isFirst = shelf.hasHeard.exchange(false, ordering: .relaxed)
        if case .channel = request { return isFirst }
        if isFirst {
            shelf.questions.store(1, ordering: .relaxed)
        } else if shelf.questions.load(ordering: .relaxed) > 0 {
            shelf.questions.wrappingAdd(1, ordering: .relaxed)
        }
        return isFirst
    }

    /// Calls the client no more, not even with what is waiting.
    func close() {
        shelf.isClosed.store(true, ordering: .relaxed)
        shelf.contents.withLock { $0.events = [] }
    }
}

extension ClientEvent {
    /// Whether it says no more than that values or octets have been taken, so that there is room for others.
    var isReceipt: Bool { if case .channel(_, .sent) = self { true } else { takenValues != nil } }

    /// How many values the host took, if it says no more than that.
    fileprivate var takenValues: Int? {
        switch self {
        case .peer(_, .writeCommandsTaken(let count), _), .server(.updatesTaken(let count)): count
        default: nil
        }
    }
}

extension [ClientEvent] {
    /// How many values the host took, if these say no more than that.
    fileprivate var receiptsAlone: Int? {
        var sum = 0
        for event in self {
            guard let count = event.takenValues else { return nil }
            sum += count
        }
        return sum
    }

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
