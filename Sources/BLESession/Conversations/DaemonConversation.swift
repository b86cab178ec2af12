package import BLEHost
import BLEWire

/// The daemon's end of a connection: the messages that an app may send, and the answers to others.
///
/// A value: octets and events in, octets and actions out. What an app does not read is queued up to a limit;
/// advertisements have a lower limit, because only recent ones are of use.
package struct DaemonConversation: Sendable {
    /// An action for the daemon, in order.
    package enum Action: Equatable, Sendable {
        /// Open a session, and report the result with ``DaemonConversation/welcome()`` or
        /// ``DaemonConversation/refuse(_:)``.
        case open(Hello)
        case request(UInt32, ClientRequest)
        /// Refuse an unknown request with ``DaemonConversation/refuse(_:_:)``.
        case refuse(UInt32, Refusal)
        /// Answer a question with ``DaemonConversation/answer(_:)``.
        case answer(Question)
        /// Close the session for the app.
        case close
    }

    private enum State: Sendable {
        /// The app has sent nothing.
        case expecting
        /// The app has sent its greeting.
        case opening(version: UInt16)
        case open
        /// Nothing more is read.
        case over
    }

    /// The maximum number of requests that were not taken.
    package static let window: UInt32 = 256
    /// The maximum length of an incomplete message before the greeting, in octets.
    package static let mostOfGreeting = 16_384
    /// The maximum number of pending questions.
    private static let mostQuestions = 16
    /// The number of unread octets beyond which the app gets no advertisements.
    package static let advertisementBacklog = 262_144
    /// The number of unread octets beyond which the connection is closed.
    package static let mostBacklog = 8 << 20

    private var state = State.expecting
    private var reader = FrameReader()
    private var writer = FrameWriter()
    private var actions = Fifo<Action>()
    /// The number of the last request that was read, of the last that was taken, and of the last that the app knows to
    /// be taken.
    private var read: UInt32 = 0
    private var taken: UInt32 = 0
    private var told: UInt32 = 0
    /// True if the app has closed its session.
    private var hasClosed = false
    /// The number of advertisements that the app missed.
    package private(set) var missedAdvertisements = 0
    /// The reason why there is no session any more; `nil` if it was not refused.
    package private(set) var refusal: Refusal?

    package init() {}

    /// True if the app was refused because it reads too little or sends too much.
    package var isCongested: Bool { mutating get { refusal?.reason == .congested } }

    /// True if the connection must be closed after everything was written.
    ///
    /// `mutating`, like everything that is used in each turn of the daemon, to avoid a copy.
    package var isOver: Bool { mutating get { if case .over = state { true } else { false } } }

    /// Processes octets from the app.
    package mutating func receive(_ chunk: Span<UInt8>) {
        var reader = reader
        self.reader = FrameReader()
        do throws(FrameReader.Overlong) {
            try reader.receive(chunk) { hear($0) }
        } catch {
            refuse(Refusal(.malformed, "\(error)"))
        }
        self.reader = reader
        if case .expecting = state, reader.pendingOctets > Self.mostOfGreeting {
            refuse(Refusal(.malformed, "the greeting is longer than \(Self.mostOfGreeting) octets"))
        }
        if isOver { self.reader = FrameReader() }
    }

    /// True if there are actions.
    package var hasActions: Bool { mutating get { !actions.isEmpty } }

    /// Removes and returns the next action, which the daemon must carry out immediately.
    package mutating func takeAction() -> Action? {
        // Mostly there is nothing, which a queue of another module takes 860 instructions to say.
        guard !actions.isEmpty, let action = actions.popFirst() else { return nil }
        switch action {
        case .open, .answer: break
        case .request(let number, _), .refuse(let number, _): taken = number
        case .close: state = .over
        }
        return action
    }

    /// Records that the app has a session.
    package mutating func welcome() {
        guard case .opening(let version) = state else { return }
        state = .open
        write(.welcome(Welcome(version: version, window: Self.window)))
    }

    /// Refuses or ends the session of the app.
    package mutating func refuse(_ refusal: Refusal) {
        guard !isOver else { return }
        state = .over
        self.refusal = refusal
        actions.removeAll()
        write(.refused(refusal))
    }

    /// Refuses a request.
    package mutating func refuse(_ number: UInt32, _ refusal: Refusal) {
        guard case .open = state else { return }
        write(.requestRefused(number, refusal))
    }

    /// Answers a question.
    package mutating func answer(_ answer: Answer) {
        if case .expecting = state { write(.answer(answer)) }
    }

    /// Sends an event of the host to the app.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - backlog: The number of octets that wait on the connection.
    package mutating func tell(_ event: ClientEvent, backlog: Int) {
        guard case .open = state else { return }
        let waiting = backlog + writer.count
        if case .discovered = event, waiting > Self.advertisementBacklog {
            missedAdvertisements += 1
            return
        }
        guard waiting <= Self.mostBacklog else {
            writer.reset()
            return refuse(Refusal(.congested, "\(waiting) octets have not been read"))
        }
        if case .peer(let peer, .valueNotified(let handle, let value), _) = event {
            expectWritten(writer.write(NotifiedValue(peer: peer, handle: handle, value: value)))
        } else {
            write(.event(event))
        }
    }

    /// Passes the octets to send to `body`: all written messages, and the number of the last taken request.
    package mutating func takeOctets(_ body: (Span<UInt8>) -> Void) {
        if taken != told, case .open = state {
            told = taken
            write(.taken(taken))
        }
        if writer.count > 0 { writer.take(body) }
    }

    private mutating func write(_ message: DaemonMessage) { expectWritten(writer.write(message)) }

    private mutating func expectWritten(_ isWritten: Bool) {
        guard !isWritten else { return }
        refuse(Refusal(.congested, "too much data to send at once"))
    }

    private mutating func hear(_ octets: Span<UInt8>) {
        guard !isOver, !hasClosed else { return }
        do throws(PacketError) {
            hear(try AppMessage(reading: octets))
        } catch {
            guard hasGreeted, let number = AppMessage.number(ofRequestIn: octets) else {
                return refuse(Refusal(.malformed, "\(error)"))
            }
            if counts(number) {
                actions.append(.refuse(number, Refusal(.unknown, "request \(number) is not known: \(error)")))
            }
        }
    }

    /// True if the app may make requests.
    private var hasGreeted: Bool {
        switch state {
        case .opening, .open: true
        case .expecting, .over: false
        }
    }

    /// Checks the number of a request; refuses the app if the numbers are not consecutive or the window is exceeded.
    private mutating func counts(_ number: UInt32) -> Bool {
        guard number == read &+ 1 else {
            refuse(Refusal(.malformed, "request \(number) follows request \(read)"))
            return false
        }
        guard number &- told <= Self.window else {
            refuse(Refusal(.congested, "more than \(Self.window) requests are pending"))
            return false
        }
        read = number
        return true
    }

    private mutating func hear(_ message: AppMessage) {
        switch (message, state) {
        case (.hello(let hello), .expecting):
            guard let version = Versions.own.common(with: hello.versions) else {
                let own = Versions.own
                let sentence = "supported versions: \(own.oldest) to \(own.newest)"
                return refuse(Refusal(.version, sentence))
            }
            state = .opening(version: version)
            actions.append(.open(hello))
        case (.request(let number, let request), .opening), (.request(let number, let request), .open):
            if counts(number) { actions.append(.request(number, request)) }
        case (.close, .opening), (.close, .open):
            hasClosed = true
            actions.append(.close)
        case (.question(let question), .expecting):
            guard actions.count < Self.mostQuestions else {
                return refuse(Refusal(.congested, "more than \(Self.mostQuestions) questions at once"))
            }
            actions.append(.answer(question))
        case (.question, _): refuse(Refusal(.malformed, "a connection with a session accepts no questions"))
        case (.hello, _): refuse(Refusal(.malformed, "only the first message may be a greeting"))
        case (.request, _), (.close, _): refuse(Refusal(.malformed, "the first message must be a greeting"))
        }
    }
}
