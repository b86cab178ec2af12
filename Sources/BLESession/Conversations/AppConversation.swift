package import BLEHost
import BLEWire

/// The app's end of a session with the daemon: the messages to send, and the app's events when there is no connection.
///
/// A value: requests and octets in, octets and events out. Pending requests fail when the connection is lost; those
/// that count for the whole session are repeated on the next one.
package struct AppConversation: Sendable {
    private enum State: Sendable {
        /// There is no connection.
        case apart
        /// The first message was sent.
        case greeting
        case open
        /// The daemon has refused the app and will close the connection.
        case refused
    }

    /// The maximum number of requests that wait for the first connection.
    private static let mostEarly = 1_024

    private var hello: Hello
    private var state = State.apart
    private var reader = FrameReader()
    private var writer = FrameWriter()
    private var standing = StandingRequests()
    /// Requests that were sent but not taken, oldest first, with the number of the first.
    private var untaken = Fifo<ClientRequest>()
    private var firstUntaken: UInt32 = 1
    /// Requests that were not sent.
    private var waiting = Fifo<ClientRequest>()
    private var window = 0
    private var events: [ClientEvent] = []
    private var hasBeenOpen = false
    /// The state with which the app was last told of a refusal, since its last session.
    private var toldRefusal: HostState?

    package init(
        _ role: ClientRole,
        restoring identifier: String?,
        radio: String,
        describing description: AppDescription? = nil
    ) {
        hello = Hello(role, restoring: identifier, radio: radio, describing: description)
    }

    /// The reason why a connection would be refused until something changes.
    package private(set) var refusal: Refusal?

    /// Why the daemon refused a request last, until that is taken.
    private var refusedRequest: Refusal?

    /// Takes the reason for which the daemon refused a request last, for people.
    package mutating func takeRefusedRequest() -> Refusal? { refusedRequest.take() }

    /// True while there is a session.
    package var isOpen: Bool { if case .open = state { true } else { false } }

    /// Records a new connection.
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

    /// Records that there is no connection any more.
    package mutating func lost() {
        let wasOpen = isOpen
        state = .apart
        writer = FrameWriter()
        untaken = Fifo()
        if hasBeenOpen { waiting = Fifo() }
        if wasOpen { events.append(.stateChanged(.resetting)) }
    }

    /// Records that the daemon has been absent for some time.
    package mutating func absent() { events.append(.stateChanged(.unsupported)) }

    /// Processes a request of the app.
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

    /// Closes the session for the app.
    package mutating func close() {
        guard case .open = state else { return }
        _ = writer.write(AppMessage.close)
    }

    /// Processes octets from the daemon.
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

    /// Passes the octets to send to `body`.
    package mutating func takeOctets(_ body: (Span<UInt8>) -> Void) { if writer.count > 0 { writer.take(body) } }

    /// Takes the events for the app.
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

    /// Returns the number of untaken requests before the one with this number; negative if it was taken.
    private func position(of number: UInt32) -> Int { Int(Int32(bitPattern: number &- firstUntaken)) }
}
