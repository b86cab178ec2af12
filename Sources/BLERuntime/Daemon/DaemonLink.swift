package import BLEHost
package import BLESession
import BLEWire
import Glibc
package import Logging
import Synchronization

/// A link to the host in the daemon, which owns the radio for all apps.
///
/// Managers use it like a host in the app's own process. The link logs refusals and lost connections. Each session has
/// its own connection to the daemon, and reconnects when the connection is lost. All requests of one turn are sent with
/// a single write.
///
/// Sendable because everything except the inbox is used only by the thread that holds the loop's lock.
/// Exclusivity checks are off for what each turn uses: nothing is called while it changes.
package final class DaemonLink: HostLink, @unchecked Sendable {
    /// A command queued by another thread.
    private enum Command: Sendable {
        case open(DaemonSession)
        case request(ClientRequest, DaemonSession)
        case close(DaemonSession)
        case caughtUp(DaemonSession)
    }

    private let address: SocketAddress
    private let radio: String
    private let reconnectTimeout: Duration
    private let logger: Logger
    private let loop: EventLoop
    private let inbox = Locked<[Command]>([])
    private let count = Atomic<Int>(0)
    private let isDenied = Atomic<Bool>(false)
    @exclusivity(unchecked) private var commands: [Command] = []
    @exclusivity(unchecked) private var sessions: [DaemonSession] = []
    /// The last logged message about the daemon; the same message is not logged again.
    private var loggedText: String?

    /// Creates a link to the daemon at `path`.
    ///
    /// - Parameters:
    ///   - path: The socket of the daemon.
    ///   - radio: The name of the radio; empty for the daemon's first one.
    ///   - loop: The loop of the program that runs the link, which must call ``takeTurn()`` at the end of each pass;
    ///     `nil` for a loop of its own.
    ///   - reconnectTimeout: The time within which a lost daemon is expected to come back. Managers are `.resetting`
    ///     during this time, and `.unsupported` after it.
    ///   - logger: The logger for messages about a missing daemon or a refusal.
    package init(
        to path: String,
        radio: String = "",
        on loop: EventLoop? = nil,
        expectedBackWithin reconnectTimeout: Duration = .seconds(30),
        logger: Logger = .coreBluetooth
    ) {
        self.reconnectTimeout = reconnectTimeout
        address = .unix(path: path)
        self.radio = radio
        self.logger = logger
        self.loop = loop ?? EventLoop("bluetooth-app")
        guard loop == nil else { return }
        self.loop.start { [weak self] in
            self?.takeTurn()
            return nil
        }
    }

    /// The permission of this process.
    ///
    /// The link asks the daemon. If the daemon does not answer, access is denied only if the daemon refused the last
    /// session because the app is not allowed.
    package var permission: HostAuthorization {
        guard case .unix(let path) = address,
            case .grant(let grant)? = try? DaemonQuery(at: path).ask(.grant(process: UInt32(bitPattern: getpid())))
        else { return isDenied.load(ordering: .relaxed) ? .denied : .allowed }
        return grant.roles.isEmpty ? .denied : .allowed
    }

    package func open(
        _ role: ClientRole,
        restoring identifier: String?,
        _ receiver: EventReceiver
    ) -> any HostSession {
        open(role, restoring: identifier, onBehalfOf: nil, receiver)
    }

    /// Opens a session with the rights of another program.
    ///
    /// The daemon permits this only to administrators.
    package func open(
        _ role: ClientRole,
        onBehalfOf principal: Principal,
        _ receiver: EventReceiver
    ) -> any HostSession {
        open(role, restoring: nil, onBehalfOf: principal, receiver)
    }

    private func open(
        _ role: ClientRole,
        restoring identifier: String?,
        onBehalfOf principal: Principal?,
        _ receiver: EventReceiver
    ) -> any HostSession {
        guard role != .tester else { return UnsupportedLink().open(role, restoring: identifier, receiver) }
        let client = ClientID(rawValue: count.wrappingAdd(1, ordering: .relaxed).newValue)
        let conversation = AppConversation(
            role,
            restoring: identifier,
            radio: radio,
            describing: identifier.map { _ in .own(as: role) },
            onBehalfOf: principal
        )
        let session = DaemonSession(conversation, with: address, on: loop, expectedBackWithin: reconnectTimeout) {
            [weak self] in
            self?.statusChanged($0)
        } mailbox: { session in
            ClientMailbox(client: client, receiver: receiver) { [logger] in
                logger.warning(RuntimeLog.droppingReports)
            } caughtUp: { [weak self, weak session] in
                if let session { self?.enqueue(.caughtUp(session)) }
            }
        }
        enqueue(.open(session))
        return Session(link: self, session: session)
    }

    private struct Session: HostSession {
        let link: DaemonLink
        let session: DaemonSession

        func send(_ request: ClientRequest) {
            link.enqueue(.request(request, session), immediately: session.noteRequest())
        }

        func close() {
            session.stopDelivery()
            link.enqueue(.close(session))
        }

        var droppedReports: UInt64 { session.droppedReports }

        // The daemon decides itself which sessions it keeps.
        func appEnded() { close() }
        func appReturned() {}
    }

    /// Queues a command for the next turn.
    ///
    /// With `immediately`, the calling thread takes that turn itself if possible.
    private func enqueue(_ command: Command, immediately: Bool = false) {
        let isFirst = inbox.withLock { inbox in
            defer { inbox.append(command) }
            return inbox.isEmpty
        }
        guard isFirst, !(immediately && loop.takeTurnHere()) else { return }
        loop.wake()
    }

    /// Carries out the queued commands, sends what the sessions have for the daemon, and delivers their events.
    ///
    /// A program that runs the link on its own loop calls this at the end of each pass. Sessions with an
    /// ``EventReceiver/inTurn(_:)`` receive their events during this call.
    package func takeTurn() {
        inbox.withLock { swap(&$0, &commands) }
        for command in commands {
            switch command {
            case .open(let session):
                sessions.append(session)
                session.connect()
            case .request(let request, let session): session.perform(request)
            case .close(let session):
                session.close()
                sessions.removeAll { $0 === session }
            case .caughtUp(let session): session.resume()
            }
        }
        commands.removeAll(keepingCapacity: commands.count <= ClientMailbox.limit)
        for session in sessions { session.flush() }
    }

    /// Logs a change of a session's connection to the daemon, and records whether the daemon allows this app.
    ///
    /// The same message is not logged twice in a row.
    private func statusChanged(_ status: DaemonSession.Status) {
        switch status {
        case .welcome:
            isDenied.store(false, ordering: .relaxed)
            loggedText = nil
        case .refused(let reason, let sentence):
            if reason == .notAllowed { isDenied.store(true, ordering: .relaxed) }
            logOnce("The daemon at \(address) refuses this app: \(sentence).")
        case .requestRefused(let sentence): logOnce("The daemon at \(address) refused a request: \(sentence).")
        case .absent(let error) where error.finding == .socketForbidden:
            logOnce("Cannot use the Bluetooth daemon at \(address) (\(error)).\(error.cure.asNextSentence)")
        case .absent(let error):
            let cure = "Start it with “\(command)”, or set \(HostSpecification.variable) to another host."
            logOnce("No Bluetooth daemon at \(address) (\(error)). \(cure)")
        case .busy(let error):
            logOnce(
                """
                The Bluetooth daemon at \(address) accepts no connections: its queue is full (\(error)). Some program \
                keeps reconnecting; “ble logs” shows its user.
                """
            )
        case .lost: logOnce("Lost the connection to the Bluetooth daemon at \(address); reconnecting.")
        }
    }

    /// The command line that starts the daemon at this address.
    private var command: String {
        let places = DaemonSocket.candidates { getenv($0).map { String(cString: $0) } }
        guard case .unix(let path) = address, !places.contains(path) else { return "bled" }
        return "bled --socket \(path)"
    }

    private func logOnce(_ text: String) {
        guard loggedText != text else { return }
        loggedText = text
        logger.error("\(text)")
    }
}
