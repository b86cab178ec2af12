package import BLEHost
import BLEWire

/// The app's end of one session with the daemon: what is said when, and what the app hears if nobody answers.
///
/// A value: requests and octets in, octets and events out. A connection that is lost voids what was asked; what counts
/// for as long as the session does is said again on the next one.
package struct AppConversation: Sendable {
    private enum State: Sendable {
        /// There is no connection.
        case apart
        /// The first message has been sent.
        case greeting
        case open
        /// The daemon has turned the app away, and ends the connection.
        case refused
    }

    /// How many requests may wait for the first connection.
    private static let mostEarly = 1_024

    private var hello: Hello
    private var state = State.apart
    private var reader = FrameReader()
    private var writer = FrameWriter()
    private var standing = StandingRequests()
    /// Requests that have been sent and are not taken, the oldest first, with the number of the first.
    private var untaken = Fifo<ClientRequest>()
    private var firstUntaken: UInt32 = 1
    /// Requests that have not been sent.
    private var waiting = Fifo<ClientRequest>()
    private var window = 0
    private var events: [ClientEvent] = []
    private var hasBeenOpen = false
    /// What the app has heard of being turned away, since it last had a session.
    private var toldRefusal: HostState?

    package init(
        _ role: ClientRole,
        restoring identifier: String?,
        radio: String,
        describing description: AppDescription? = nil
    ) {
        hello = Hello(role, restoring: identifier, radio: radio, describing: description)
    }

    /// Whether a connection would be in vain until somebody changes something.
    package private(set) var refusal: Refusal?

    /// Why the daemon refused a request last, until that is taken.
    private var refusedRequest: Refusal?

    /// Takes the reason for which the daemon refused a request last, for people.
    package mutating func takeRefusedRequest() -> Refusal? { refusedRequest.take() }

    /// Whether there is a session at this moment.
    package var isOpen: Bool { if case .open = state { true } else { false } }

    /// There is a connection.
    package mutating func connected() {
        reader.reset()
        writer = FrameWriter()
        untaken = Fifo()
        firstUntaken = 1
        refusal = nil
        state = .greeting
        hello.isContinued = hasBeenOpen
        _ = writer.write(AppMessage.hello(hello))
    }

    /// There is no connection, or none any more.
    package mutating func lost() {
        let wasOpen = isOpen
        state = .apart
        writer = FrameWriter()
        untaken = Fifo()
        if hasBeenOpen { waiting = Fifo() }
        if wasOpen { events.append(.stateChanged(.resetting)) }
    }

    /// Nobody has been there for a while.
    package mutating func absent() { events.append(.stateChanged(.unsupported)) }

    /// The app asks for something.
    package mutating func perform(_ request: ClientRequest) {
        standing.note(request)
        switch state {
        case .open: send(request)
        case .apart, .greeting:
            guard !hasBeenOpen, !request.isStanding, waiting.count < Self.mostEarly else { return }
            waiting.append(request)
        case .refused: break
        }
    }

    /// The app needs the session no more.
    package mutating func close() {
        guard case .open = state else { return }
        _ = writer.write(AppMessage.close)
    }

    /// The daemon says something.
    package mutating func receive(_ chunk: Span<UInt8>) throws(FrameReader.Overlong) {
        var reader = reader
        self.reader = FrameReader()
        defer { self.reader = reader }
        try reader.receive(chunk) { octets in
            if let told = NotifiedValue(reading: octets) { return hear(told) }
            // What is not known is of a newer version, and not for this one.
            if let message = try? DaemonMessage(reading: octets) { hear(message) }
        }
    }

    /// What is to be sent, as octets.
    package mutating func takeOctets(_ body: (Span<UInt8>) -> Void) { if writer.count > 0 { writer.take(body) } }

    /// What the app is to hear.
    package mutating func takeEvents(into taken: inout [ClientEvent]) {
        if taken.isEmpty { swap(&events, &taken) } else { taken += events }
        events.removeAll(keepingCapacity: true)
    }

    private mutating func hear(_ told: NotifiedValue) {
        if isOpen { events.append(.peer(told.peer, .valueNotified(told.handle, told.value))) }
    }

    private mutating func hear(_ message: DaemonMessage) {
        switch (message, state) {
        case (.welcome(let welcome), .greeting):
            state = .open
            window = max(1, Int(welcome.window))
            hasBeenOpen = true
            toldRefusal = nil
            var early = waiting
            waiting = Fifo()
            for request in standing.requests { waiting.append(request) }
            while let request = early.popFirst() { waiting.append(request) }
            sendWaiting()
        case (.refused(let refusal), _):
            self.refusal = refusal
            state = .refused
            let told = refusal.reason == .notAllowed ? HostState.unauthorized : .unsupported
            if told != toldRefusal { events.append(.stateChanged(told)) }
            toldRefusal = told
        case (.event(let event), .open): events.append(event)
        case (.taken(let number), .open):
            dropTaken(upTo: number)
            sendWaiting()
        case (.requestRefused(let number, let refusal), .open): refuse(number, refusal)
        case (.welcome, _), (.event, _), (.taken, _), (.requestRefused, _), (.answer, _): break
        }
    }

    private mutating func send(_ request: ClientRequest) {
        waiting.append(request)
        sendWaiting()
    }

    private mutating func sendWaiting() {
        while untaken.count < window, let request = waiting.popFirst() {
            let number = firstUntaken &+ UInt32(truncatingIfNeeded: untaken.count)
            guard writer.write(AppMessage.request(number, request)) else {
                if let answer = request.answer(failing: .invalidParameters) { events.append(answer) }
                continue
            }
            untaken.append(request)
        }
    }

    private mutating func dropTaken(upTo number: UInt32) {
        while position(of: number) >= 0, untaken.popFirst() != nil { firstUntaken &+= 1 }
    }

    private mutating func refuse(_ number: UInt32, _ refusal: Refusal) {
        refusedRequest = refusal
        let failure: Failure = refusal.reason == .unknown ? .notSupported : .invalidParameters
        if let answer = untaken[position(of: number)]?.answer(failing: failure) { events.append(answer) }
    }

    /// How many requests that are not taken are before the one with this number; less than none if it is taken.
    private func position(of number: UInt32) -> Int { Int(Int32(bitPattern: number &- firstUntaken)) }
}
