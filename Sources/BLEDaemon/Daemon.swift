import BLEHost
package import BLERuntime
import BLESession
import BLEWire
import Glibc

/// The daemon: a server on a Unix socket that lets apps in other processes use its hosts.
///
/// It limits connections, checks each request against the policy, keeps the sessions of apps that have ended and
/// launches these apps when there are events for them, and answers commands of `ble` such as `ble apps`.
///
/// Each turn of its loop processes the requests of all apps, and then the events of the hosts.
///
/// Sendable because everything except wake-ups happens on the thread of its loop.
package final class Daemon: @unchecked Sendable {
    /// The limits on connections, and the times allowed to apps.
    package struct Limits: Sendable {
        let connectionLimiter: ConnectionLimiter
        let acceptRate: AcceptRateLimiter<FileDescriptor>
        /// The time within which a program must send its greeting.
        let greeting: Duration
        /// The time that a refused program has to read the reason.
        let closing: Duration

        /// Creates limits.
        ///
        /// `connections`, `connectionsOfUser` and `connectionsOfProcess` are the maximum numbers of connections in
        /// total, from one user and from one process. `acceptRate` is the number of a user's connections that are
        /// accepted immediately; further ones are accepted at one per 10 ms.
        package init(
            connections: Int = 512,
            connectionsOfUser: Int = 256,
            connectionsOfProcess: Int = 32,
            acceptRate: Int = 64,
            greeting: Duration = .seconds(10),
            closing: Duration = .seconds(5)
        ) {
            self.acceptRate = AcceptRateLimiter(burst: acceptRate, then: .milliseconds(10))
            connectionLimiter = ConnectionLimiter(
                connections: .init(process: connectionsOfProcess, user: connectionsOfUser, all: connections),
                ungreeted: .init(process: 32, user: 32, all: 128),
                administrators: [0, geteuid()]
            )
            self.greeting = greeting
            self.closing = closing
        }
    }

    private let loop = EventLoop("bled")
    private let radios: Radios
    private let limits: Limits
    private let wakeFlag: WakeFlag
    private let keptSessions: KeptSessions
    private let log: DaemonLog
    private var switches: RadioSwitches
    private var policy: AppPolicy
    /// The sessions through which the hosts get the policy's rule for unattended pairing; empty if no policy has had
    /// such a rule.
    private var pairingSessions: [any HostSession] = []
    private var acceptor: ConnectionAcceptor?
    @exclusivity(unchecked) private var connections: [AppConnection] = []

    /// Creates a daemon; call ``listen(at:)`` to start it.
    ///
    /// - Parameters:
    ///   - radios: The radios that apps can use.
    ///   - limits: The limits for apps.
    ///   - policy: The permissions of apps.
    ///   - file: The file that preserves sessions when the daemon stops; `nil` to preserve none.
    ///   - switches: The path of the file that preserves which radios are switched off; `nil` to preserve nothing.
    ///   - launcher: Launches apps that have pending events.
    package init(
        _ radios: Radios,
        limits: Limits = Limits(),
        under policy: AppPolicy = .none,
        keeping file: KeptFile? = nil,
        switches: String? = nil,
        launcher: AppLauncher = AppLauncher()
    ) {
        self.radios = radios
        self.switches = RadioSwitches(radios, keptAt: switches)
        self.limits = limits
        self.policy = policy
        let wakeFlag = WakeFlag { [loop] in loop.wake() }
        self.wakeFlag = wakeFlag
        let log = DaemonLog(loop.clock)
        self.log = log
        keptSessions = KeptSessions(file, launcher: launcher, radios: radios, under: policy, noting: log) {
            wakeFlag.raise()
        } later: { [weak loop] delay, body in
            if let loop { _ = loop.alarm(at: loop.clock.now + delay, handler: body) }
        }
        setUnattendedPairing()
        loop.start { [weak self] in
            self?.takeTurn()
            return nil
        }
    }

    /// Sets a new policy, which also applies to apps that are already connected.
    package func apply(_ policy: AppPolicy) {
        loop.sync { [self] in
            self.policy = policy
            setUnattendedPairing()
            log.note("the policy was reloaded", of: nil)
            for connection in connections { connection.apply(policy) }
            keptSessions.apply(policy)
        }
        wakeFlag.raise()
    }

    /// Sends the policy's rule for unattended pairing to the hosts, if any policy has had such a rule.
    private func setUnattendedPairing() {
        if pairingSessions.isEmpty {
            guard policy.unattendedPairing != nil else { return }
            pairingSessions = radios.openSessions(.agent)
        }
        let wanted = PairingPolicy(unattended: policy.unattendedPairing)
        for session in pairingSessions { session.send(.security(.setPolicy(wanted))) }
    }

    /// The number of kept sessions whose apps are not connected.
    var waitingCount: Int { loop.sync { [self] in keptSessions.waitingCount } }

    /// The number of connected apps.
    var connectionCount: Int { loop.sync { [self] in connections.count } }

    /// Listens on `path`, and replaces the socket of a daemon that has ended.
    ///
    /// Other users can connect if the permissions of the directory allow it.
    ///
    /// - Returns: The path of the socket. The socket remains there after ``stop()``.
    /// - Throws: ``TransportError/Code/unreachable`` if another program listens there, or the path cannot be used;
    ///   ``TransportError/Code/forbidden`` if another user could replace the socket.
    @discardableResult
    package func listen(at path: String) throws(TransportError) -> TrustedPath {
        let place = try SocketDirectory.place(for: path)
        guard DaemonSocket.listening(among: [place.path]) == nil else {
            throw TransportError(.unreachable, "another program listens on \(path)")
        }
        try SocketDirectory.removeSocket(at: place)
        let acceptor = makeAcceptor()
        try acceptor.listen(at: place)
        loop.sync { [self] in self.acceptor = acceptor }
        return place
    }

    /// Listens on a socket that already exists, such as one that the service manager passed.
    ///
    /// After ``stop()``, the socket is still listening for its other owner, and connections wait for the next daemon.
    package func listen(adopting descriptor: FileDescriptor) {
        let acceptor = makeAcceptor()
        acceptor.listen(adopting: descriptor)
        loop.sync { [self] in self.acceptor = acceptor }
    }

    private func makeAcceptor() -> ConnectionAcceptor {
        ConnectionAcceptor(limits.acceptRate) { [weak self] in
            self?.enqueue($0)
        } refused: { [log] in
            log.note("refused: \($0.sentence)", of: $1.map { AppCredentials(notIdentified: $0) })
        }
    }

    /// Stops listening, and closes all connections and sessions.
    ///
    /// Sessions with a restore identifier stay in the file of kept sessions, if there is one, for the next run of the
    /// daemon.
    package func stop() {
        loop.sync { [self] in acceptor.take() }?.stop()
        loop.sync { [self] in
            for connection in connections { connection.end() }
            connections = []
            for session in pairingSessions { session.close() }
            pairingSessions = []
            keptSessions.takeTurn()
            keptSessions.stop()
        }
    }

    /// Passes a new connection to the loop's thread, which admits or refuses it.
    private func enqueue(_ descriptor: FileDescriptor) { loop.post { [weak self] in self?.admit(descriptor) } }

    private func admit(_ descriptor: FileDescriptor) {
        let peer = descriptor.peer
        // The kernel reports 0 for a process that it hides.
        let newcomer = ConnectionLimiter.Program(
            user: peer?.user,
            process: peer.flatMap { $0.process > 0 ? $0.process : nil }
        )
        switch onConnect(of: newcomer) {
        case .admit: break
        case .admitInPlace(let index): makeRoom(inPlaceOf: connections[index])
        case .refuse(let refusal):
            descriptor.sendRefusal(refusal)
            return log.note("refused: \(refusal.sentence)", of: peer.map { AppCredentials(notIdentified: $0) })
        }
        let stream = SocketStream(descriptor, on: loop, knowsSender: true)
        let connection = AppConnection(
            stream,
            of: newcomer,
            to: radios,
            keeping: keptSessions,
            noting: log,
            under: policy,
            limit: { [weak self] in self?.refusal(of: $0) },
            answer: { [weak self] in self?.answer($0, to: $1) ?? .done },
            alert: { [weak self] in self?.show($0, insteadOf: $1) },
            wake: { [wakeFlag] in wakeFlag.raise() }
        )
        stream.readsToTheEnd = true
        stream.start { [weak connection] (chunk) throws(TransportError) in
            connection?.receive(chunk)
        } closed: { [wakeFlag, weak connection] _ in
            connection?.appEnded()
            wakeFlag.raise()
        }
        connections.append(connection)
        expectGreeting(of: connection)
        // A greeting that has already arrived is processed before the next connection is admitted. So an app whose
        // sessions all connect together, after a restart of the daemon, has few connections without a greeting.
        stream.read()
        if connection.takeTurn() { wakeFlag.raise() }
    }

    private func onConnect(of program: ConnectionLimiter.Program) -> ConnectionLimiter.OnConnect {
        limits.connectionLimiter.connect(program, among: connections.lazy.map(\.program))
    }

    /// Closes a connection without a greeting to make room for another user's connection.
    private func makeRoom(inPlaceOf connection: AppConnection) {
        let sentence = "too many connections have sent no greeting, and this user has the most of them"
        connection.refuse(Refusal(.tooMany, sentence))
        _ = connection.takeTurn()
        ended(connection)
    }

    /// Returns the reason to refuse another session for a program; `nil` if it is admitted.
    private func refusal(of program: ConnectionLimiter.Program) -> Refusal? {
        if case .refuse(let refusal) = onConnect(of: program) { refusal } else { nil }
    }

    /// Returns whether the user of `asker` may see and control the apps of `user`.
    private func mayManage(_ user: UInt32?, _ asker: AppCredentials?) -> Bool {
        guard let asker else { return false }
        return [0, geteuid()].contains(asker.user) || asker.user == user
    }

    /// Shows an alert through the newest connection whose program shows alerts, may see the app `app`, and reads its
    /// alerts fast enough; if there is no such connection, writes the alert to the journal.
    private func show(_ alert: ClientAlert, insteadOf app: AppCredentials?) {
        let agents = connections.reversed().lazy.filter { [self] in mayManage(app?.user ?? 0, $0.app) }
        guard !agents.contains(where: { $0.show(alert) }) else { return wakeFlag.raise() }
        log.note("alert: \(alert.text)", of: app)
    }

    private func answer(_ question: Question, to asker: AppCredentials?) -> Answer {
        switch question {
        case .apps:
            let facts = connections.compactMap(\.sessionInfo) + keptSessions.sessionInfos
            return .apps(fitting: facts.filter { mayManage($0.user, asker) })
        case .grant(let process):
            let number = Int32(bitPattern: process)
            // The kernel says more about a process that is connected than about others.
            let connected = asker?.process == number ? asker : connections.first { $0.app?.process == number }?.app
            guard let app = connected ?? AppCredentials(ofProcess: process), mayManage(app.user, asker) else {
                return Self.unknownProcess(process)
            }
            return .grant(policy.grant(to: app).permissions(of: app))
        case .move(let process, let phase):
            return connections(of: process, for: asker).count(where: { $0.changePhase(to: phase) }) > 0
                ? .done : Self.unknownProcess(process)
        case .quit(let process):
            return connections(of: process, for: asker).count(where: { $0.quit() }) > 0
                ? .done : Self.unknownProcess(process)
        case .radios: return .radios(switches.facts)
        case .power(let radio, let isOn): return turn(on: isOn, radio, for: asker)
        case .endLinks(let peer):
            let count = connections.count { mayManage($0.app?.user, asker) && $0.endLinks(to: peer) }
            let left = keptSessions.endLinks(to: peer) { mayManage($0, asker) }
            let missing = "no app that you may manage has a link" + (peer == nil ? "" : " to this device")
            return count + left > 0 ? .done : .refused(Refusal(.unknown, missing))
        case .journal(let number): return .journal(log.lines(after: number) { mayManage($0, asker) })
        }
    }

    /// Switches Bluetooth on or off for one radio or, if `radio` is `nil`, for all radios, provided that the asking
    /// user may do that.
    private func turn(on isOn: Bool, _ radio: String?, for asker: AppCredentials?) -> Answer {
        guard mayManage(geteuid(), asker) else {
            let sentence = "only root and the daemon's user may switch Bluetooth on or off for all apps"
            return .refused(Refusal(.notAllowed, sentence))
        }
        let switched = switches.turn(on: isOn, radio)
        guard !switched.isEmpty else {
            return .refused(Refusal(.noRadio, "there is no radio “\(radio ?? "")”, only \(radios)"))
        }
        for name in switched { log.note("\(name) was switched \(isOn ? "on" : "off")", of: asker) }
        return .done
    }

    /// Returns the connections of a process, if the asking user may see them.
    private func connections(of process: UInt32, for asker: AppCredentials?) -> [AppConnection] {
        connections.filter { connection in
            guard let app = connection.app, app.process == Int32(bitPattern: process) else { return false }
            return mayManage(app.user, asker)
        }
    }

    private static func unknownProcess(_ process: UInt32) -> Answer {
        .refused(Refusal(.unknown, "no app that you may manage has process ID \(process)"))
    }

    private func expectGreeting(of connection: AppConnection) {
        connection.greeting = loop.alarm(at: loop.clock.now + limits.greeting) { [weak connection, limits] in
            guard let connection, !connection.hasSession else { return }
            connection.refuse(Refusal(.malformed, "no greeting within \(limits.greeting)"))
        }
    }

    /// Ends a connection that is closing: now if everything has been sent, otherwise after a limited time in which the
    /// program can read the queued messages.
    private func limitClosing(of connection: AppConnection) {
        if connection.isOver { return ended(connection) }
        guard connection.closing == nil else { return }
        connection.closing = loop.alarm(at: loop.clock.now + limits.closing) { [weak self, weak connection] in
            if let connection { self?.ended(connection) }
        }
    }

    private func ended(_ connection: AppConnection) {
        connections.removeAll { $0 === connection }
        connection.end()
    }

    private func takeTurn() {
        wakeFlag.clear()
        for connection in connections where connection.takeTurn() { wakeFlag.raise() }
        keptSessions.takeTurn()
        for connection in connections where connection.isClosing { limitClosing(of: connection) }
    }
}
