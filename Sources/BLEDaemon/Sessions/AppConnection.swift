import BLEHost
import BLERuntime
import BLESession
import BLEWire

/// The connection of an app to the daemon.
///
/// It opens the app's session with a host, and forwards the requests and events that the policy permits. If the session
/// has a restore identifier, it is kept when the app ends.
///
/// Sendable because everything happens on the thread of the daemon's loop.
///
/// Exclusivity checks are off for what each turn uses: none of these values calls out while it changes, except to write
/// to the stream, which changes none of them.
final class AppConnection: @unchecked Sendable {
    /// The maximum number of an app's requests that are carried out in one turn of the loop, so that other apps do not
    /// wait long.
    private static let mostRequestsPerTurn = 32
    /// The number of octets waiting to be sent above which a program that shows alerts gets no more of them.
    private static let alertBacklog = 65_536

    /// The credentials of the program at the other end; `nil` if the kernel does not report them.
    private(set) var app: AppCredentials?

    /// Fires if the app takes too long to send its greeting.
    var greeting: LoopAlarm?
    /// Fires if a refused app takes too long to read the reason.
    var closing: LoopAlarm?

    private let stream: SocketStream
    private let connectingProgram: ConnectionLimiter.Program
    private let radios: Radios
    private let keptSessions: KeptSessions
    private let log: DaemonLog
    private let wake: @Sendable () -> Void
    private let limit: (ConnectionLimiter.Program) -> Refusal?
    private let answer: (Question, AppCredentials?) -> Answer
    private let alert: (ClientAlert, AppCredentials?) -> Void
    @exclusivity(unchecked) private var conversation = DaemonConversation()
    private var policy: AppPolicy
    @exclusivity(unchecked) private var grant: Grant
    @exclusivity(unchecked) private var filter: SessionFilter
    /// The process that sent the last message; `nil` before the first message.
    @exclusivity(unchecked) private var sender: Int32?
    /// The program that the session is for, if another program has opened it; otherwise `nil`.
    private var principal: Principal?
    @exclusivity(unchecked) private var sessionDescription: SessionDescription?
    @exclusivity(unchecked) private var session: RemoteAppSession?
    /// The session's entry among the kept sessions; `nil` if the session ends with its app.
    @exclusivity(unchecked) private var keptEntry: KeptSessionEntry?
    @exclusivity(unchecked) private var events: [ClientEvent] = []
    @exclusivity(unchecked) private var isPaused = false
    /// True if the app shows alerts to the user.
    private(set) var showsAlerts = false
    /// True if the app has, or has had, a session.
    private var hasBegun = false
    @exclusivity(unchecked) private var hasEnded = false

    /// Creates a connection.
    ///
    /// The caller must start `stream`.
    ///
    /// - Parameters:
    ///   - stream: The stream from and to the app.
    ///   - connectingProgram: The user and process for which the connection limits counted the connection.
    ///   - radios: The radios that sessions can use.
    ///   - keptSessions: The kept sessions.
    ///   - log: The journal.
    ///   - policy: The permissions of apps.
    ///   - limit: Returns the reason to refuse a session on behalf of a program; `nil` if it is admitted.
    ///   - answer: Answers a question from a program with these credentials.
    ///   - alert: Shows an alert on behalf of an app with these credentials.
    ///   - wake: Called on any thread when ``takeTurn()`` has work to do.
    init(
        _ stream: SocketStream,
        of connectingProgram: ConnectionLimiter.Program,
        to radios: Radios,
        keeping keptSessions: KeptSessions,
        noting log: DaemonLog,
        under policy: AppPolicy,
        limit: @escaping (ConnectionLimiter.Program) -> Refusal?,
        answer: @escaping (Question, AppCredentials?) -> Answer,
        alert: @escaping (ClientAlert, AppCredentials?) -> Void,
        wake: @escaping @Sendable () -> Void
    ) {
        self.stream = stream
        self.connectingProgram = connectingProgram
        self.radios = radios
        self.keptSessions = keptSessions
        self.log = log
        self.wake = wake
        self.limit = limit
        self.answer = answer
        self.alert = alert
        self.policy = policy
        app = AppCredentials(connectedBy: stream)
        grant = policy.grant(to: app)
        filter = SessionFilter(grant, for: nil)
    }

    /// A description of the app's session, as `ble` shows it; `nil` if there is no session.
    var sessionInfo: SessionInfo? {
        var info = sessionDescription?.sessionInfo
        info?.droppedReports = conversation.droppedReports
        return info
    }

    /// Sets a new policy, and ends everything that the app may no longer do.
    func apply(_ policy: AppPolicy) {
        self.policy = policy
        let new = policy.grant(to: app)
        guard new != grant else { return }
        grant = new
        session?.transfer(to: owner)
        if let sessionInfo, let sentence = new.refusal(of: sessionInfo.role, on: sessionInfo.radio) {
            return finish(Refusal(.notAllowed, sentence))
        }
        let events = filter.apply(new)
        sessionDescription?.receivesAllValues = !filter.isRestricted
        withdraw()
        for event in events { deliver(event, backlog: stream.pendingOctets) }
    }

    /// The owner that represents the app in the host.
    private var owner: ClientOwner { ClientOwner(app, under: grant) }

    /// Asks the host to end everything that the app may no longer do.
    private func withdraw() {
        for request in filter.takeWithdrawals() { forward(request) }
    }

    /// Ends the app's session because the user has quit the app; returns whether there was a session.
    func quit() -> Bool {
        guard session != nil else { return false }
        finish(Refusal(.ended, "the user has quit the app"))
        return true
    }

    /// Ends the app's link to a peer, or all of its links if `peer` is `nil`; returns whether there were any.
    func endLinks(to peer: PeerIdentifier?) -> Bool {
        let links = sessionDescription?.sessionInfo.links.map(\.peer).filter { [$0, nil].contains(peer) } ?? []
        for peer in links { session?.perform(.cancelConnection(peer)) }
        return !links.isEmpty
    }

    /// Refuses the app, and drops its session even if it has a restore identifier.
    private func finish(_ refusal: Refusal) {
        if let keptEntry { keptSessions.forget(keptEntry) }
        keptEntry = nil
        refuse(refusal)
    }

    /// Moves the app to a phase, such as the background; returns whether the app has a session.
    func changePhase(to phase: AppPhase) -> Bool {
        guard session != nil else { return false }
        forward(.appPhaseChanged(to: phase))
        return true
    }

    /// True if only messages that are already queued can still be sent.
    var isClosing: Bool { hasEnded || conversation.isOver }

    /// True if everything has been sent, or if nothing more can be sent.
    var isOver: Bool { hasEnded || conversation.isOver && stream.pendingOctets == 0 }

    /// The user and process of this connection, for the connection limits.
    var program: ConnectionLimiter.Program {
        guard principal != nil, let app else {
            return .init(user: connectingProgram.user, process: connectingProgram.process, hasGreeted: hasSession)
        }
        return Self.program(app, hasGreeted: hasSession)
    }

    private static func program(_ app: AppCredentials, hasGreeted: Bool) -> ConnectionLimiter.Program {
        .init(user: app.user, process: app.process > 0 ? app.process : nil, hasGreeted: hasGreeted)
    }

    var hasSession: Bool { session != nil }

    /// Processes octets from the app.
    func receive(_ chunk: Span<UInt8>) {
        if stream.sender != sender { identify() }
        conversation.receive(chunk)
    }

    /// Identifies the sending process, on the first message and whenever another process sends.
    ///
    /// If the session is on behalf of another program, a change of the sending process ends it.
    private func identify() {
        sender = stream.sender
        guard principal == nil else {
            return refuse(
                Refusal(.notAllowed, "a session on behalf of another program belongs to the process that opened it")
            )
        }
        app = AppCredentials(sendingOn: stream)
        apply(policy)
    }

    /// Records that the stream has ended.
    ///
    /// Requests that arrived before are still carried out.
    func appEnded() { hasEnded = true }

    /// Tells the app that it is refused, and ends its session.
    func refuse(_ refusal: Refusal) {
        conversation.refuse(refusal)
        endSession()
    }

    /// Carries out at most ``mostRequestsPerTurn`` requests from the app, and sends events to the app; returns whether
    /// requests are left.
    func takeTurn() -> Bool {
        var count = 0
        while count < Self.mostRequestsPerTurn, let action = conversation.takeAction() {
            perform(action)
            count += 1
        }
        sendEvents()
        if conversation.takeLoss() { note("advertising reports are being dropped, because the app is too slow") }
        if conversation.isOver { endRefusedSession() }
        conversation.takeOctets { stream.write($0) }
        // Nothing more is read from an app until all of its earlier requests have been carried out.
        let hasMore = conversation.hasActions
        if hasMore != isPaused {
            isPaused = hasMore
            if isPaused { stream.pause() } else { stream.resume() }
        }
        return hasMore
    }

    /// Ends the session of a refused app.
    ///
    /// If the app does not read, unsent messages are dropped, except the reason for the refusal.
    private func endRefusedSession() {
        endSession()
        if conversation.isCongested, closing == nil { stream.dropBacklog() }
    }

    /// Sends the host's new events to the app.
    ///
    /// If the app has ended and its session is kept, the events stay with the session.
    private func sendEvents() {
        session?.take(into: &events)
        // If the app ended before the radio was lost, its session keeps the app's requests. Read the stream to its end
        // first, to find out.
        if keptEntry != nil, events.contains(where: \.isStateOfRadio) { stream.catchUp() }
        if hasEnded, let keptEntry { return keptEntry.session.putBack(&events) }
        let backlog = stream.pendingOctets
        for event in events { deliver(event, backlog: backlog) }
        events.removeAll(keepingCapacity: events.count <= 1_024)
    }

    /// Carries out the app's last requests, ends its session, and closes the stream.
    func end() {
        while let action = conversation.takeAction() { perform(action) }
        greeting?.cancel()
        closing?.cancel()
        if !hasBegun, let refusal = conversation.refusal { note("refused: \(refusal.sentence)") }
        endSession()
        stream.close()
    }

    private func perform(_ action: DaemonConversation.Action) {
        switch action {
        case .open(let hello): open(hello)
        case .request(let number, let request):
            guard let sentence = filter.refusal(of: request) else { return forward(request) }
            conversation.refuse(number, Refusal(.notAllowed, sentence))
            note("request denied: \(sentence)")
        case .refuse(let number, let refusal): conversation.refuse(number, refusal)
        case .answer(let question): conversation.answer(answer(question, app))
        case .close:
            if let keptEntry { keptSessions.forget(keptEntry) }
            keptEntry = nil
            endSession()
        }
    }

    private func forward(_ request: ClientRequest) {
        if case .showAlerts = request { showsAlerts = true }
        filter.note(request)
        sessionDescription?.note(request)
        keptEntry?.note(request)
        session?.perform(request)
    }

    private func deliver(_ event: ClientEvent, backlog: Int) {
        guard let keptEntry else { return deliverAllowed(event, backlog: backlog) }
        _ = keptEntry.receive(event, canLaunch: false) { deliverAllowed($0, backlog: backlog) }
    }

    private func deliverAllowed(_ event: ClientEvent, backlog: Int) {
        if event.isNotifiedValue, let isAlone = sessionDescription?.noteValue(), isAlone {
            return conversation.send(event, backlog: backlog)
        }
        let admitted = filter.filter(event)
        withdraw()
        guard let event = admitted else { return }
        if let text = sessionDescription?.line(about: event) { note(text) }
        if let alert = sessionDescription?.alert(insteadOf: event) { self.alert(alert, app) }
        sessionDescription?.note(event)
        conversation.send(event, backlog: backlog)
    }

    /// Sends an alert to the app, to be shown to the user; returns false if the app shows no alerts or reads too
    /// slowly.
    func show(_ alert: ClientAlert) -> Bool {
        guard showsAlerts, hasSession, stream.pendingOctets <= Self.alertBacklog else { return false }
        conversation.send(.alert(alert), backlog: stream.pendingOctets)
        return true
    }

    private func open(_ hello: Hello) {
        guard let link = radios[hello.radio], let radio = radios.name(of: hello.radio) else {
            return conversation.refuse(Refusal(.noRadio, "there is no radio “\(hello.radio)”, only \(radios)"))
        }
        if let principal = hello.principal {
            // No rule of the policy grants this right, because it would amount to root's rights.
            guard app?.ownsDaemon == true else {
                let sentence = "only root and the daemon's user may open sessions on behalf of other programs"
                return conversation.refuse(Refusal(.notAllowed, sentence))
            }
            let credentials = AppCredentials(of: principal)
            if let refusal = limit(Self.program(credentials, hasGreeted: true)) { return conversation.refuse(refusal) }
            self.principal = principal
            app = credentials
            grant = policy.grant(to: app)
        }
        if let sentence = grant.refusal(of: hello.role, on: radio) {
            return conversation.refuse(Refusal(.notAllowed, sentence))
        }
        conversation.welcome()
        greeting?.cancel()
        hasBegun = true
        filter = SessionFilter(grant, for: hello.role)
        sessionDescription = SessionDescription(hello, radio: radio, of: app)
        sessionDescription?.receivesAllValues = !filter.isRestricted
        let key = AppKey(hello, of: app)
        if let key, let left = keptSessions.take(key, hello.description) {
            guard hello.isContinued else { return resume(with: left, hello.description) }
            // The app knows that its earlier session is lost, and repeats its requests.
            keptSessions.forget(left)
        }
        note("session began: \(hello.role.name) on \(radio)")
        let session = RemoteAppSession(wake: wake)
        self.session = session
        keptEntry = key.flatMap { keptSessions.add($0, hello.description, session) }
        session.open(hello.role, for: owner, on: link)
    }

    /// Continues the session that was kept when the app last ended.
    private func resume(with left: KeptSessionEntry, _ description: AppDescription?) {
        keptEntry = left
        session = left.session
        left.session.transfer(to: owner)
        note("session resumed: “\(left.key.identifier)”, \(left.key.role.name)")
        left.appReturned(description) { deliverAllowed($0, backlog: 0) }
    }

    private func note(_ text: String) { log.note(text, of: app) }

    private func endSession() {
        if session != nil {
            let why = conversation.refusal?.sentence ?? (hasEnded ? "the app exited" : "the app closed it")
            note(keptEntry == nil ? "session ended: \(why)" : "session kept: \(why)")
        }
        if let keptEntry { keptSessions.appEnded(keptEntry) } else { session?.close() }
        keptEntry = nil
        session = nil
        sessionDescription = nil
    }
}

extension ClientEvent {
    fileprivate var isStateOfRadio: Bool { if case .stateChanged = self { true } else { false } }
}
