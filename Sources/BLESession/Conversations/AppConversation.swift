package import BLEHost
import BLEWire

/// The app's side of a session with the daemon: the messages to send, and the events for the app.
///
/// A value without I/O: it takes requests and octets, and returns octets and events. When a session is lost, its
/// pending requests are dropped. Requests that apply to the whole session are repeated on the next connection.
package struct AppConversation: Sendable {
    private enum State: Sendable {
        /// There is no connection.
        case disconnected
        /// The greeting has been sent.
        case greeting
        case open
        /// The daemon has refused the app and will close the connection.
        case refused
    }

    /// The maximum number of requests that wait for the first session.
    private static let mostEarly = 1_024
    /// The number of further lost reports after which the daemon is informed again during a burst of losses.
    private static let worthwhileLosses: UInt64 = 256

    private var hello: Hello
    private var state = State.disconnected
    private var reader = FrameReader()
    private var writer = FrameWriter()
    private var standingRequests = StandingRequests()
    /// The sent requests that the daemon has not acknowledged with ``DaemonMessage/taken(_:)``, oldest first.
    private var untakenRequests = Fifo<ClientRequest>()
    /// The number of the first request in ``untakenRequests``.
    private var firstUntaken: UInt32 = 1
    /// The requests that have not been sent.
    private var unsentRequests = Fifo<ClientRequest>()
    /// The maximum number of unacknowledged requests, as set by the daemon.
    private var window = 0
    private var events: [ClientEvent] = []
    private var hasBeenOpen = false
    /// The state that was reported to the app for the last refusal, so that it is not reported twice; `nil` after a new
    /// session.
    private var reportedRefusal: HostState?
    /// The protocol version that this connection uses.
    private var version: UInt16 = 0
    /// The number of reports that the daemon has dropped: `before` on earlier connections, and `now` on this one.
    private var dropped: (before: UInt64, now: UInt64) = (0, 0)
    /// The losses in this process that were last reported to the daemon: how many, and whether the burst was going on.
    private var reportedLosses: (total: UInt64, areOngoing: Bool) = (0, false)

    package init(
        _ role: ClientRole,
        restoring identifier: String?,
        radio: String,
        describing description: AppDescription? = nil,
        onBehalfOf principal: Principal? = nil
    ) {
        hello = Hello(role, restoring: identifier, radio: radio, describing: description, onBehalfOf: principal)
    }

    /// The reason why the daemon refused the app, or ended its session, on this connection; `nil` if it did neither.
    package private(set) var refusal: Refusal?

    /// The reason why the daemon last refused a request; `nil` if there is none, or
    /// ``takeRefusedRequest()`` has returned it.
    private var refusedRequest: Refusal?

    /// Removes and returns the reason why the daemon last refused a request, for the log; `nil` if there is none.
    package mutating func takeRefusedRequest() -> Refusal? { refusedRequest.take() }

    /// The number of advertising reports that the daemon has dropped because this process did not read fast enough.
    package var droppedByDaemon: UInt64 { dropped.before &+ dropped.now }

    /// Tells the daemon, for its users, how many reports were dropped in this process because the app is too slow.
    ///
    /// The daemon is informed at the beginning of a burst, after each ``worthwhileLosses`` reports, and at the end.
    package mutating func report(_ losses: DroppedReports) {
        guard isOpen, version >= Versions.withDroppedReports else { return }
        guard
            losses.isLosing != reportedLosses.areOngoing
                || losses.total &- reportedLosses.total >= Self.worthwhileLosses
        else { return }
        reportedLosses = (losses.total, losses.isLosing)
        _ = writer.write(AppMessage.reportsDropped(losses.total, areOngoing: losses.isLosing))
    }

    /// True while there is a session.
    package var isOpen: Bool { if case .open = state { true } else { false } }

    /// Starts a new connection with a greeting.
    package mutating func connected() {
        reader.reset()
        writer = FrameWriter()
        untakenRequests = Fifo()
        firstUntaken = 1
        refusal = nil
        (dropped, reportedLosses) = ((droppedByDaemon, 0), (0, false))
        state = .greeting
        hello.isContinued = hasBeenOpen
        _ = writer.write(AppMessage.hello(hello))
    }

    /// Records that the connection has been lost.
    package mutating func lost() {
        let wasOpen = isOpen
        state = .disconnected
        writer = FrameWriter()
        untakenRequests = Fifo()
        if hasBeenOpen { unsentRequests = Fifo() }
        if wasOpen { events.append(.stateChanged(.resetting)) }
    }

    /// Records that the daemon has been absent for so long that the app must be informed.
    package mutating func absent() { events.append(.stateChanged(.unsupported)) }

    /// Sends a request from the app.
    ///
    /// Before the first session, a limited number of requests wait for it, and further ones are dropped. After a
    /// session is lost, requests are dropped until there is a new one. If the daemon has refused the app, requests are
    /// dropped, too.
    ///
    /// Requests that apply to the whole session are never lost: they are sent on each new connection.
    package mutating func perform(_ request: ClientRequest) {
        standingRequests.note(request)
        switch state {
        case .open: send(request)
        case .disconnected, .greeting:
            guard !hasBeenOpen, !request.isStanding, unsentRequests.count < Self.mostEarly else { return }
            unsentRequests.append(request)
        case .refused: break
        }
    }

    /// Tells the daemon that the app is closing the session, if there is one.
    package mutating func close() {
        guard case .open = state else { return }
        _ = writer.write(AppMessage.close)
    }

    /// Processes octets from the daemon.
    ///
    /// Messages that this version cannot read are ignored.
    ///
    /// - Throws: ``FrameReader/Overlong`` if the length of a message is invalid; the connection must be closed.
    package mutating func receive(_ chunk: Span<UInt8>) throws(FrameReader.Overlong) {
        var reader = reader
        self.reader = FrameReader()
        defer { self.reader = reader }
        try reader.receive(chunk) { octets in
            if let event = ValueMessage(reading: octets, isRequest: false)?.event {
                if isOpen { events.append(event) }
                return
            }
            // Messages that cannot be read come from a newer version, and this version can ignore them.
            if let message = try? DaemonMessage(reading: octets) { receiveMessage(message) }
        }
    }

    /// Calls `body` with the octets to send, if there are any.
    package mutating func takeOctets(_ body: (Span<UInt8>) -> Void) { if writer.count > 0 { writer.take(body) } }

    /// Moves the events for the app to the end of `taken`.
    package mutating func takeEvents(into taken: inout [ClientEvent]) {
        if taken.isEmpty { swap(&events, &taken) } else { taken += events }
        events.removeAll(keepingCapacity: true)
    }

    private mutating func receiveMessage(_ message: DaemonMessage) {
        switch (message, state) {
        case (.welcome(let welcome), .greeting):
            state = .open
            version = welcome.version
            window = max(1, Int(welcome.window))
            hasBeenOpen = true
            reportedRefusal = nil
            var early = unsentRequests
            unsentRequests = Fifo()
            for request in standingRequests.requests { unsentRequests.append(request) }
            while let request = early.popFirst() { unsentRequests.append(request) }
            sendWaiting()
        case (.refused(let refusal), _):
            self.refusal = refusal
            state = .refused
            let radioState = refusal.reason == .notAllowed ? HostState.unauthorized : .unsupported
            if radioState != reportedRefusal { events.append(.stateChanged(radioState)) }
            reportedRefusal = radioState
        case (.event(let event), .open): events.append(event)
        case (.taken(let number), .open):
            dropTaken(upTo: number)
            sendWaiting()
        case (.requestRefused(let number, let refusal), .open): refuse(number, refusal)
        case (.reportsDropped(let total), .open): dropped.now = total
        case (.welcome, _), (.event, _), (.taken, _), (.requestRefused, _), (.answer, _), (.reportsDropped, _): break
        }
    }

    private mutating func send(_ request: ClientRequest) {
        unsentRequests.append(request)
        sendWaiting()
    }

    private mutating func sendWaiting() {
        while untakenRequests.count < window, let request = unsentRequests.popFirst() {
            let number = firstUntaken &+ UInt32(truncatingIfNeeded: untakenRequests.count)
            guard write(number, request) else {
                if let answer = request.answer(failing: .invalidParameters) { events.append(answer) }
                continue
            }
            untakenRequests.append(request)
        }
    }

    private mutating func write(_ number: UInt32, _ request: ClientRequest) -> Bool {
        if let message = ValueMessage(number, request) { return writer.write(message) }
        return writer.write(AppMessage.request(number, request))
    }

    private mutating func dropTaken(upTo number: UInt32) {
        while position(of: number) >= 0, untakenRequests.popFirst() != nil { firstUntaken &+= 1 }
    }

    private mutating func refuse(_ number: UInt32, _ refusal: Refusal) {
        refusedRequest = refusal
        let failure: Failure = refusal.reason == .unknown ? .notSupported : .invalidParameters
        if let answer = untakenRequests[position(of: number)]?.answer(failing: failure) { events.append(answer) }
    }

    /// Returns the index of a request in ``untakenRequests``; negative if the daemon has acknowledged the request.
    private func position(of number: UInt32) -> Int { Int(Int32(bitPattern: number &- firstUntaken)) }
}
