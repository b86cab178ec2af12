package import BLEHost
import BLEWire

/// The daemon's end of one connection: what an app may say when, and what it is told if it may not.
///
/// A value: octets and events in, octets and what to do out. What an app does not read is held for it up to a limit,
/// and of advertisements only as much as it may yet want to see.
package struct DaemonConversation: Sendable {
    /// What the daemon must do for the app, in this order.
    package enum Action: Equatable, Sendable {
        /// Open a session, and say how it went with ``DaemonConversation/welcome()`` or
        /// ``DaemonConversation/refuse(_:)``.
        case open(Hello)
        case request(UInt32, ClientRequest)
        /// Refuse a request that makes no sense to this version, with ``DaemonConversation/refuse(_:_:)``.
        case refuse(UInt32, Refusal)
        /// Say what somebody wants to know with ``DaemonConversation/answer(_:)``.
        case answer(Question)
        /// The app needs the session no more.
        case close
    }

    private enum State: Sendable {
        /// The app has said nothing.
        case expecting
        /// The app has said who it wants to be.
        case opening(version: UInt16)
        case open
        /// Nothing is read any more.
        case over
    }

    /// How many requests an app may have made that are not taken.
    package static let window: UInt32 = 256
    /// How many octets may have come of a message that is not complete before the app has greeted.
    package static let mostOfGreeting = 16_384
    /// How many questions may wait for their answers.
    private static let mostQuestions = 16
    /// How many octets may wait for an app to read them before it hears of no advertisements.
    package static let advertisementBacklog = 262_144
    /// How many octets may wait for an app to read them before its connection is ended.
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
    /// Whether the app has said its last.
    private var hasClosed = false
    /// How many advertisements the app has missed.
    package private(set) var missedAdvertisements = 0
    /// Why there is no session any more; `nil` if it was not refused.
    package private(set) var refusal: Refusal?

    package init() {}

    /// Whether the app has been turned away because it does not read what it is told, or says too much.
    package var isCongested: Bool { mutating get { refusal?.reason == .congested } }

    /// Whether the connection is to be ended once all is written.
    ///
    /// Mutating, as what is asked in each turn of the daemon, so that the conversation is not copied for it.
    package var isOver: Bool { mutating get { if case .over = state { true } else { false } } }

    /// The app says something.
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
            refuse(Refusal(.malformed, "a greeting of more than \(Self.mostOfGreeting) octets"))
        }
        if isOver { self.reader = FrameReader() }
    }

    /// Whether there is something to do.
    package var hasActions: Bool { mutating get { !actions.isEmpty } }

    /// What there is to do next, which the daemon does at once.
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

    /// There is a session for the app.
    package mutating func welcome() {
        guard case .opening(let version) = state else { return }
        state = .open
        write(.welcome(Welcome(version: version, window: Self.window)))
    }

    /// There is no session for the app, or none any more.
    package mutating func refuse(_ refusal: Refusal) {
        guard !isOver else { return }
        state = .over
        self.refusal = refusal
        actions.removeAll()
        write(.refused(refusal))
    }

    /// A request comes to nothing.
    package mutating func refuse(_ number: UInt32, _ refusal: Refusal) {
        guard case .open = state else { return }
        write(.requestRefused(number, refusal))
    }

    /// A question is answered.
    package mutating func answer(_ answer: Answer) {
        if case .expecting = state { write(.answer(answer)) }
    }

    /// The host tells the app something.
    ///
    /// - Parameters:
    ///   - event: What it is.
    ///   - backlog: How many octets wait on the connection.
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

    /// What is to be sent, as octets: all that was written, and which requests have been taken.
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
        refuse(Refusal(.congested, "there is too much to say at once"))
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

    /// Whether the app may make requests.
    private var hasGreeted: Bool {
        switch state {
        case .opening, .open: true
        case .expecting, .over: false
        }
    }

    /// Takes the number of a request, or turns the app away: numbers follow each other, and the window is kept.
    private mutating func counts(_ number: UInt32) -> Bool {
        guard number == read &+ 1 else {
            refuse(Refusal(.malformed, "request \(number) comes after \(read)"))
            return false
        }
        guard number &- told <= Self.window else {
            refuse(Refusal(.congested, "there are more than \(Self.window) requests that have not been taken"))
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
                let sentence = "versions \(own.oldest) to \(own.newest) are spoken here"
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
                return refuse(Refusal(.congested, "there are more than \(Self.mostQuestions) questions at once"))
            }
            actions.append(.answer(question))
        case (.question, _): refuse(Refusal(.malformed, "who has a session asks nothing beside it"))
        case (.hello, _): refuse(Refusal(.malformed, "only the first message is a greeting"))
        case (.request, _), (.close, _): refuse(Refusal(.malformed, "the first message is a greeting"))
        }
    }
}
