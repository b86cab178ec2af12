package import BLEHost
import BLEWire

/// The daemon's side of a connection: it accepts the messages that an app may send, and refuses others.
///
/// A value without I/O: it takes octets and events, and returns octets and actions. Octets that an app does not read
/// are queued up to a limit. The limit is lower for advertisements, because only recent ones are useful.
package struct DaemonConversation: Sendable {
    /// An action for the daemon, which must carry out all actions in order.
    package enum Action: Equatable, Sendable {
        /// Open a session, and report the result with ``DaemonConversation/welcome()`` or
        /// ``DaemonConversation/refuse(_:)``.
        case open(Hello)
        case request(UInt32, ClientRequest)
        /// Refuse an unknown request, by calling ``DaemonConversation/refuse(_:_:)``.
        case refuse(UInt32, Refusal)
        /// Answer a question, by calling ``DaemonConversation/answer(_:)``.
        case answer(Question)
        /// Close the session, because the app has asked for it.
        case close
    }

    private enum State: Sendable {
        /// The app has not sent a greeting, but may have sent questions.
        case expecting
        /// The app has sent its greeting, and waits for the daemon's answer.
        case opening
        case open
        /// The app was refused, or has closed its session; no more messages are read.
        case over
    }

    /// The maximum number of requests that the daemon has not acknowledged with ``DaemonMessage/taken(_:)``.
    package static let window: UInt32 = 256
    /// The number of unacknowledged requests after which the daemon acknowledges them, even if each is of a kind that
    /// needs no acknowledgement of its own.
    package static let mostUnacknowledged = window / 4
    /// The maximum number of octets that may be received of a greeting before it is complete.
    package static let mostOfGreeting = 16_384
    /// The maximum number of questions that wait for answers.
    private static let mostQuestions = 16
    /// The maximum number of octets waiting to be sent; beyond it, advertisements for the app are dropped.
    package static let advertisementBacklog = 262_144
    /// The maximum number of octets waiting to be sent; beyond it, the app is refused.
    package static let mostBacklog = 8 << 20

    private var state = State.expecting
    /// The protocol version of the session; 0 before its greeting.
    private var version: UInt16 = 0
    private var reader = FrameReader()
    private var writer = FrameWriter()
    private var actions = Fifo<Action>()
    /// The number of the last request that was received.
    private var read: UInt32 = 0
    /// The number of the last request that was taken, which means that it was passed to the host or refused.
    private var taken: UInt32 = 0
    /// The number of the last request that the daemon has acknowledged with ``DaemonMessage/taken(_:)``.
    private var reportedTaken: UInt32 = 0
    /// True if ``taken`` must be acknowledged with the next octets.
    private var mustReportTaken = false
    /// True if the app has closed its session; its further messages are then ignored.
    private var hasClosed = false
    /// The reports that were dropped here because the app's process does not read fast enough.
    private var dropped = DroppedReports()
    /// The number of dropped reports that the app has been informed of.
    private var reportedDropped: UInt64 = 0
    /// The number of reports dropped in the app's process, and whether the burst is going on, as last reported by the
    /// app.
    private var droppedByApp: (total: UInt64, areOngoing: Bool) = (0, false)
    /// True if reports have been dropped that ``takeLoss()`` has not returned.
    private var hasNewLoss = false
    /// The reason why the session was refused or ended; `nil` if it was not.
    package private(set) var refusal: Refusal?

    package init() {}

    /// The number of advertising reports that the app has lost because it is too slow, here and in its own process.
    package var droppedReports: UInt64 { dropped.total &+ droppedByApp.total }

    /// Returns true once for each burst of dropped reports, for the log.
    package mutating func takeLoss() -> Bool {
        defer { hasNewLoss = false }
        return hasNewLoss
    }

    /// True if the app was refused because it reads too little or sends too much.
    package var isCongested: Bool { mutating get { refusal?.reason == .congested } }

    /// True if the connection must be closed once everything has been written.
    ///
    /// Like everything that the daemon uses in each turn, the getter is `mutating`, which avoids a copy.
    package var isOver: Bool { mutating get { if case .over = state { true } else { false } } }

    /// Processes octets from the app.
    package mutating func receive(_ chunk: Span<UInt8>) {
        var reader = reader
        self.reader = FrameReader()
        do throws(FrameReader.Overlong) {
            try reader.receive(chunk) { receiveMessage($0) }
        } catch {
            refuse(Refusal(.malformed, "\(error)"))
        }
        self.reader = reader
        if case .expecting = state, reader.pendingOctets > Self.mostOfGreeting {
            refuse(Refusal(.malformed, "the greeting is longer than \(Self.mostOfGreeting) octets"))
        }
        if isOver { self.reader = FrameReader() }
    }

    /// True if there are actions to carry out.
    package var hasActions: Bool { mutating get { !actions.isEmpty } }

    /// Removes and returns the next action, which the daemon must carry out immediately; `nil` if there is none.
    package mutating func takeAction() -> Action? {
        // Usually there is no action. To find that out from a queue of another module would take 860 instructions.
        guard !actions.isEmpty, let action = actions.popFirst() else { return nil }
        switch action {
        case .open, .answer: break
        case .request(let number, let request):
            taken = number
            let mayBeLate = version >= Versions.withLateAcknowledgements && request.mayBeAcknowledgedLate
            if !mayBeLate || taken &- reportedTaken >= Self.mostUnacknowledged { mustReportTaken = true }
        case .refuse(let number, _):
            taken = number
            mustReportTaken = true
        case .close: state = .over
        }
        return action
    }

    /// Tells the app that it has a session.
    package mutating func welcome() {
        guard case .opening = state else { return }
        state = .open
        write(.welcome(Welcome(version: version, window: Self.window)))
    }

    /// Tells the app that its session is refused or ended, and drops its pending actions.
    package mutating func refuse(_ refusal: Refusal) {
        guard !isOver else { return }
        state = .over
        self.refusal = refusal
        actions.removeAll()
        write(.refused(refusal))
    }

    /// Tells the app that a request is refused.
    package mutating func refuse(_ number: UInt32, _ refusal: Refusal) {
        guard case .open = state else { return }
        write(.requestRefused(number, refusal))
    }

    /// Sends the answer to a question.
    package mutating func answer(_ answer: Answer) {
        if case .expecting = state { write(.answer(answer)) }
    }

    /// Sends an event from the host to the app.
    ///
    /// If the app reads too slowly, advertisements are dropped beyond ``advertisementBacklog``, and any other event
    /// ends the session beyond ``mostBacklog``.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - backlog: The number of octets that were taken from this value and are waiting to be sent.
    package mutating func send(_ event: ClientEvent, backlog: Int) {
        guard case .open = state else { return }
        let waiting = backlog + writer.count
        if waiting == 0 { dropped.caughtUp() }
        if case .discovered = event, waiting > Self.advertisementBacklog {
            if dropped.add(1) { hasNewLoss = true }
            return
        }
        guard waiting <= Self.mostBacklog else {
            writer.reset()
            return refuse(Refusal(.congested, "the app has not read \(waiting) octets"))
        }
        if dropped.total != reportedDropped, waiting <= Self.advertisementBacklog {
            reportedDropped = dropped.total
            write(.reportsDropped(dropped.total))
        }
        if let message = ValueMessage(event) {
            expectWritten(writer.write(message))
        } else {
            write(.event(event))
        }
    }

    /// Calls `body` with the octets to send, if there are any.
    ///
    /// The octets contain all pending messages. They acknowledge the processed requests if one of them needs it, or if
    /// there are ``mostUnacknowledged``.
    package mutating func takeOctets(_ body: (Span<UInt8>) -> Void) {
        if mustReportTaken, case .open = state {
            mustReportTaken = false
            reportedTaken = taken
            write(.taken(taken))
        }
        if writer.count > 0 { writer.take(body) }
    }

    private mutating func write(_ message: DaemonMessage) { expectWritten(writer.write(message)) }

    private mutating func expectWritten(_ isWritten: Bool) {
        guard !isWritten else { return }
        refuse(Refusal(.congested, "a message for the app is longer than \(FrameReader.mostOctets) octets"))
    }

    private mutating func receiveMessage(_ octets: Span<UInt8>) {
        guard !isOver, !hasClosed else { return }
        if hasGreeted, let message = ValueMessage(reading: octets, isRequest: true), let request = message.request {
            if checkNumber(message.message) { actions.append(.request(message.message, request)) }
            return
        }
        do throws(PacketError) {
            receiveMessage(try AppMessage(reading: octets))
        } catch {
            guard hasGreeted, let number = AppMessage.number(ofRequestIn: octets) else {
                return refuse(Refusal(.malformed, "\(error)"))
            }
            if checkNumber(number) {
                actions.append(.refuse(number, Refusal(.unknown, "request \(number) is unknown or invalid (\(error))")))
            }
        }
    }

    /// True if the app has sent its greeting; it may then send requests.
    private var hasGreeted: Bool {
        switch state {
        case .opening, .open: true
        case .expecting, .over: false
        }
    }

    /// Checks the number of a request.
    ///
    /// Refuses the app, and returns false, if the number does not follow the last one, or if too many requests are
    /// unacknowledged (``window``).
    private mutating func checkNumber(_ number: UInt32) -> Bool {
        guard number == read &+ 1 else {
            refuse(Refusal(.malformed, "request \(number) follows request \(read), but must be \(read &+ 1)"))
            return false
        }
        guard number &- reportedTaken <= Self.window else {
            refuse(Refusal(.congested, "more than \(Self.window) requests are pending"))
            return false
        }
        read = number
        return true
    }

    private mutating func receiveMessage(_ message: AppMessage) {
        switch (message, state) {
        case (.hello(let hello), .expecting):
            guard let version = Versions.own.common(with: hello.versions) else {
                let own = Versions.own
                let sentence = "the app supports none of the daemon's protocol versions, \(own.oldest) to \(own.newest)"
                return refuse(Refusal(.version, sentence))
            }
            self.version = version
            state = .opening
            actions.append(.open(hello))
        case (.request(let number, let request), .opening), (.request(let number, let request), .open):
            if checkNumber(number) { actions.append(.request(number, request)) }
        case (.close, .opening), (.close, .open):
            hasClosed = true
            actions.append(.close)
        case (.question(let question), .expecting):
            guard actions.count < Self.mostQuestions else {
                return refuse(Refusal(.congested, "more than \(Self.mostQuestions) questions at once"))
            }
            actions.append(.answer(question))
        case (.reportsDropped(let total, let areOngoing), .opening),
            (.reportsDropped(let total, let areOngoing), .open):
            if areOngoing, !droppedByApp.areOngoing { hasNewLoss = true }
            droppedByApp = (total, areOngoing)
        case (.question, _): refuse(Refusal(.malformed, "a connection with a session accepts no questions"))
        case (.hello, _): refuse(Refusal(.malformed, "only the first message may be a greeting"))
        case (.request, _), (.close, _), (.reportsDropped, _):
            refuse(Refusal(.malformed, "the first message must be a greeting"))
        }
    }
}

extension ClientRequest {
    /// True for frequent requests, which the daemon acknowledges together with later ones.
    ///
    /// An app needs the acknowledgement only when its window is full, to send more requests. So the daemon can process
    /// several of these requests before it acknowledges them.
    fileprivate var mayBeAcknowledgedLate: Bool {
        switch self {
        case .peer(_, .attribute, _), .service(.respond), .service(.update), .channel: true
        default: false
        }
    }
}
