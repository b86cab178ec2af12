import BLEHost
import BLESession
import BLEWire
import Glibc
import Synchronization

/// A manager's session with the daemon, over one connection at a time.
///
/// It sends the manager's requests, receives the events for the manager, and reconnects when the connection to the
/// daemon is lost.
///
/// Sendable because everything except the mailbox is used only by the thread that holds the loop's lock. Exclusivity
/// checks are off for what each turn uses, except for the conversation: writing can end the stream, which changes it.
final class DaemonSession: @unchecked Sendable {
    /// The state of a session's connection to the daemon.
    enum Status {
        case welcome
        case refused(Refusal.Reason, String)
        /// The daemon refused one request; the session continues.
        case requestRefused(String)
        /// The daemon is not running.
        case absent(TransportError)
        /// The daemon is running, but its queue of connections has been full for ``busyTimeout``.
        case busy(TransportError)
        case lost
    }

    /// The longest pause between two attempts to connect while a lost daemon is expected to come back.
    private static let longestPause = Duration.seconds(1)
    /// The pause between two attempts to connect while the daemon's queue of connections is full, and the time for
    /// which the queue may be full before the app is notified that it has no daemon.
    private static let (busyPause, busyTimeout) = (Duration.milliseconds(10), Duration.seconds(8))

    private enum State {
        case idle
        case open(SocketStream, isWelcome: Bool)
        case waiting(LoopAlarm)
        case closed
    }

    private let address: SocketAddress
    private let loop: EventLoop
    private let report: (Status) -> Void
    @exclusivity(unchecked) private var mailbox: ClientMailbox?
    private var conversation: AppConversation
    @exclusivity(unchecked) private var state = State.idle
    private var backoff = Backoff()
    private let reconnectTimeout: Duration
    /// The time at which the connection was lost; `nil` unless the daemon is expected to come back.
    private var lostSince: Instant?
    /// The time since which the daemon has refused each attempt to connect because its queue is full; `nil` if the last
    /// attempt did not fail for this reason.
    private var busySince: Instant?
    @exclusivity(unchecked) private var events: [ClientEvent] = []
    @exclusivity(unchecked) private var isReadingPaused = false
    /// True if ``Status/busy(_:)`` has been reported since the daemon last accepted the session.
    private var hasReportedBusy = false

    /// Creates a session; call ``connect()`` to start it.
    init(
        _ conversation: AppConversation,
        with address: SocketAddress,
        on loop: EventLoop,
        expectedBackWithin reconnectTimeout: Duration,
        report: @escaping (Status) -> Void,
        mailbox: (DaemonSession) -> ClientMailbox
    ) {
        self.conversation = conversation
        self.address = address
        self.loop = loop
        self.reconnectTimeout = reconnectTimeout
        self.report = report
        self.mailbox = mailbox(self)
    }

    /// Records a request from the app; returns whether it is the first one since an event that calls for a response.
    func noteRequest() -> Bool { mailbox?.noteRequest() ?? false }

    /// The number of advertising reports that the app has lost because it is too slow.
    var droppedReports: UInt64 { mailbox?.droppedReports ?? 0 }

    /// Stops delivering events to the app.
    func stopDelivery() { mailbox?.close() }

    /// Sends a request from the app to the daemon.
    func perform(_ request: ClientRequest) { conversation.perform(request) }

    /// Connects to the daemon; from then on, a lost connection is replaced automatically.
    func connect() {
        if case .closed = state { return }
        do throws(TransportError) {
            let stream = SocketStream(try address.connect(), on: loop)
            busySince = nil
            // When the daemon refuses the app, sending fails before the app has read the reason; it must go on reading.
            stream.readsToTheEnd = true
            state = .open(stream, isWelcome: false)
            conversation.connected()
            stream.start(
                receive: { [weak self] (chunk) throws(TransportError) in try self?.receive(chunk) },
                closed: { [weak self] error in self?.lost(error) }
            )
        } catch {
            failed(error)
        }
    }

    /// Processes a failed attempt to connect, or a lost connection, and schedules the next attempt.
    private func failed(_ error: TransportError) {
        guard error.errno != EAGAIN else { return reportBusy(error) }
        busySince = nil
        let step = backoff.failed()
        guard let lostSince else {
            if step.isAbsent { reportAbsent(.absent(error)) }
            return retry(after: step.delay)
        }
        let end = lostSince + reconnectTimeout, now = loop.clock.now
        if now >= end { reportAbsent(.absent(error)) }
        retry(after: min(step.delay, Self.longestPause, max(end - now, .milliseconds(1))))
    }

    /// Processes a connection that was refused because the daemon's queue is full: programs connect faster than the
    /// daemon accepts.
    private func reportBusy(_ error: TransportError) {
        let since = busySince ?? loop.clock.now
        busySince = since
        if loop.clock.now - since >= Self.busyTimeout, !hasReportedBusy {
            hasReportedBusy = true
            reportAbsent(.busy(error))
        }
        retry(after: hasReportedBusy ? Backoff.shortest : Self.busyPause)
    }

    private func reportAbsent(_ status: Status) {
        lostSince = nil
        conversation.absent()
        report(status)
    }

    /// Sends pending messages to the daemon, and delivers pending events to the app.
    func flush() {
        if case .open(let stream, _) = state { conversation.takeOctets { stream.write($0) } }
        conversation.takeEvents(into: &events)
        guard !events.isEmpty, let mailbox else { return }
        mailbox.droppedByDaemon.store(conversation.droppedByDaemon, ordering: .relaxed)
        let count = mailbox.post(&events)
        if mailbox.latestLosses.total > 0, case .open(let stream, _) = state {
            conversation.report(mailbox.latestLosses)
            conversation.takeOctets { stream.write($0) }
        }
        guard count > 4 * ClientMailbox.limit, !isReadingPaused, case .open(let stream, _) = state else { return }
        isReadingPaused = true
        stream.pause()
    }

    /// Reads from the daemon again, because the app has processed its backlog.
    func resume() {
        isReadingPaused = false
        if case .open(let stream, _) = state { stream.resume() }
    }

    /// Closes the session, and tells the daemon to end it as well.
    func close() {
        conversation.close()
        switch state {
        case .open(let stream, _):
            conversation.takeOctets { stream.write($0) }
            stream.close()
        case .waiting(let alarm): alarm.cancel()
        case .idle, .closed: break
        }
        state = .closed
        mailbox = nil
    }

    private func receive(_ chunk: Span<UInt8>) throws(TransportError) {
        do throws(FrameReader.Overlong) {
            try conversation.receive(chunk)
        } catch {
            throw TransportError(.garbage, "\(error)")
        }
        if let refusal = conversation.takeRefusedRequest() { report(.requestRefused(refusal.sentence)) }
        guard case .open(let stream, isWelcome: false) = state else { return }
        if let refusal = conversation.refusal {
            report(.refused(refusal.reason, refusal.sentence))
        } else if conversation.isOpen {
            state = .open(stream, isWelcome: true)
            backoff.succeeded()
            (lostSince, hasReportedBusy) = (nil, false)
            report(.welcome)
        }
    }

    /// Processes the loss of the connection, whose stream is already closed.
    private func lost(_ error: TransportError) {
        guard case .open(_, let wasWelcome) = state else { return }
        conversation.lost()
        isReadingPaused = false
        // After a refusal, the next attempt comes later, because the reason is unlikely to change soon.
        guard conversation.refusal == nil else { return retry(after: Backoff.pauses.upperBound) }
        if wasWelcome {
            report(.lost)
            lostSince = loop.clock.now
        }
        failed(error)
    }

    private func retry(after delay: Duration) {
        state = .waiting(loop.alarm(at: loop.clock.now + delay) { [weak self] in self?.connect() })
    }
}
