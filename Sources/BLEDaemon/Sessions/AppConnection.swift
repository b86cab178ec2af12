import BLEHost
import BLERuntime
import BLESession
import BLEWire

/// The connection of an app, from its greeting on.
///
/// Sendable because everything happens on the thread of the daemon's loop.
final class AppConnection: @unchecked Sendable {
    /// How many requests of an app are handed on before those of others get their turn.
    private static let share = 32
    /// How many octets may wait for whoever is to show an alert.
    private static let alertBacklog = 65_536

    /// Whose program is at the other end, as the kernel says; `nil` if it cannot.
    private(set) var app: AppCredentials?

    /// Rings when the app has said nothing for too long.
    var greeting: LoopAlarm?
    /// Rings when whoever is to go has not heard why for too long.
    var farewell: LoopAlarm?

    private let stream: SocketStream
    private let newcomer: Doorkeeper.Guest
    private let radios: Radios
    private let keptApps: KeptApps
    private let log: DaemonLog
    private let speak: @Sendable () -> Void
    private let answer: (Question, AppCredentials?) -> Answer
    private let alert: (ClientAlert, AppCredentials?) -> Void
    private var conversation = DaemonConversation()
    private var policy: AppPolicy
    private var grant: Grant
    private var gate: SessionGate
    /// The process that said something last; `nil` before the first message.
    private var speaker: Int32?
    private var facts: SessionFacts?
    private var session: ServedSession?
    /// The session, if it goes on when the app ends.
    private var kept: KeptApp?
    @exclusivity(unchecked) private var events: [ClientEvent] = []
    private var isPaused = false
    /// Whether it shows alerts to the user.
    private(set) var showsAlerts = false
    /// Whether there was a session.
    private var hasBegun = false
    private var hasEnded = false

    /// Creates a connection on a stream that has been started.
    ///
    /// - Parameters:
    ///   - stream: What the kernel has of it.
    ///   - newcomer: As whom it was let in.
    ///   - radios: Those that a session can be had on.
    ///   - keptApps: The sessions that go on without their apps.
    ///   - log: What happens is noted there.
    ///   - policy: Says what the app may do.
    ///   - answer: Answers questions of whoever has these credentials.
    ///   - alert: Tells the user something in the place of whoever has these credentials.
    ///   - speak: Called on any thread when ``takeTurn()`` has something to do.
    init(
        _ stream: SocketStream,
        of newcomer: Doorkeeper.Guest,
        to radios: Radios,
        keeping keptApps: KeptApps,
        noting log: DaemonLog,
        under policy: AppPolicy,
        answer: @escaping (Question, AppCredentials?) -> Answer,
        alert: @escaping (ClientAlert, AppCredentials?) -> Void,
        speak: @escaping @Sendable () -> Void
    ) {
        self.stream = stream
        self.newcomer = newcomer
        self.radios = radios
        self.keptApps = keptApps
        self.log = log
        self.speak = speak
        self.answer = answer
        self.alert = alert
        self.policy = policy
        app = AppCredentials(connectedBy: stream)
        grant = policy.grant(to: app)
        gate = SessionGate(grant, for: nil)
    }

    /// The session of the app, for people; `nil` if there is none.
    var fact: AppFact? { facts?.told }

    /// There is another policy: what the app may do no more ends here.
    func obey(_ policy: AppPolicy) {
        self.policy = policy
        let new = policy.grant(to: app)
        guard new != grant else { return }
        grant = new
        session?.give(to: owner)
        if let fact, let sentence = new.refusal(of: fact.role, on: fact.radio) {
            return finish(Refusal(.notAllowed, sentence))
        }
        let events = gate.obey(new)
        facts?.hearsAllValues = !gate.isFenced
        withdraw()
        for event in events { tell(event, backlog: stream.pendingOctets) }
    }

    /// The app as the host knows it.
    private var owner: ClientOwner { ClientOwner(app, under: grant) }

    /// Has the host end what the app may not do.
    private func withdraw() {
        for request in gate.takeWithdrawals() { forward(request) }
    }

    /// The user has quit the app; whether it had a session.
    func quit() -> Bool {
        guard session != nil else { return false }
        finish(Refusal(.ended, "the user has quit it"))
        return true
    }

    /// The user ends the link to a peer, or all; whether the app had any.
    func endLinks(to peer: PeerIdentifier?) -> Bool {
        let links = facts?.told.links.map(\.peer).filter { [$0, nil].contains(peer) } ?? []
        for peer in links { session?.perform(.cancelConnection(peer)) }
        return !links.isEmpty
    }

    /// Turns the app away, and nothing of it goes on.
    private func finish(_ refusal: Refusal) {
        if let kept { keptApps.forget(kept) }
        kept = nil
        refuse(refusal)
    }

    /// Takes the app for one that is in use so far; whether it has a session.
    func move(to phase: AppPhase) -> Bool {
        guard session != nil else { return false }
        forward(.appMoved(to: phase))
        return true
    }

    /// Whether nothing but what was said before is to be said any more.
    var isLeaving: Bool { hasEnded || conversation.isOver }

    /// Whether everything has been said, or nobody hears it.
    var isOver: Bool { hasEnded || conversation.isOver && stream.pendingOctets == 0 }

    /// Who is connected, for whoever wants to be as well.
    var guest: Doorkeeper.Guest { .init(user: newcomer.user, process: newcomer.process, hasGreeted: hasSession) }

    /// Whether the app has a session.
    var hasSession: Bool { session != nil }

    /// Takes what the app says.
    func receive(_ chunk: Span<UInt8>) {
        if stream.sender != speaker { identify() }
        conversation.receive(chunk)
    }

    /// Finds out which program speaks, with its first message and whenever another process goes on.
    private func identify() {
        speaker = stream.sender
        app = AppCredentials(speakingOn: stream)
        obey(policy)
    }

    /// The stream has ended; what the app asked for before is still to be done.
    func appEnded() { hasEnded = true }

    /// Turns the app away.
    func refuse(_ refusal: Refusal) {
        conversation.refuse(refusal)
        endSession()
    }

    /// Does what the app wants, as far as its turn goes, and tells it what there is; returns whether more is to be
    /// done.
    func takeTurn() -> Bool {
        var count = 0
        while count < Self.share, let action = conversation.takeAction() {
            perform(action)
            count += 1
        }
        tellNews()
        if conversation.isOver { partWays() }
        conversation.takeOctets { stream.write($0) }
        // Whoever has said more than its share is not listened to until that is done.
        let hasMore = conversation.hasActions
        if hasMore != isPaused {
            isPaused = hasMore
            if isPaused { stream.pause() } else { stream.resume() }
        }
        return hasMore
    }

    /// Ends the session; who does not read what it is told is told but why.
    private func partWays() {
        endSession()
        if conversation.isCongested, farewell == nil { stream.dropBacklog() }
    }

    /// Tells the app what the host has said since.
    private func tellNews() {
        session?.take(into: &events)
        // Whoever ended before the radio was lost has not heard of that, and its session goes on with what it was at.
        if kept != nil, events.contains(where: \.isStateOfRadio) { stream.catchUp() }
        if hasEnded, let kept { return kept.session.putBack(&events) }
        let backlog = stream.pendingOctets
        for event in events { tell(event, backlog: backlog) }
        events.removeAll(keepingCapacity: events.count <= 1_024)
    }

    /// Does what the app asked for last, lets go of what it had, and ends the stream.
    func end() {
        while let action = conversation.takeAction() { perform(action) }
        greeting?.cancel()
        farewell?.cancel()
        if !hasBegun, let refusal = conversation.refusal { note("turned away: \(refusal.sentence)") }
        endSession()
        stream.close()
    }

    private func perform(_ action: DaemonConversation.Action) {
        switch action {
        case .open(let hello): open(hello)
        case .request(let number, let request):
            guard let sentence = gate.refusal(of: request) else { return forward(request) }
            conversation.refuse(number, Refusal(.notAllowed, sentence))
            note("asked for what it may not: \(sentence)")
        case .refuse(let number, let refusal): conversation.refuse(number, refusal)
        case .answer(let question): conversation.answer(answer(question, app))
        case .close:
            if let kept { keptApps.forget(kept) }
            kept = nil
            endSession()
        }
    }

    private func forward(_ request: ClientRequest) {
        if case .showAlerts = request { showsAlerts = true }
        gate.note(request)
        facts?.note(request)
        kept?.note(request)
        session?.perform(request)
    }

    private func tell(_ event: ClientEvent, backlog: Int) {
        guard let kept else { return pass(event, backlog: backlog) }
        _ = kept.hear(event, canLaunch: false) { pass($0, backlog: backlog) }
    }

    private func pass(_ event: ClientEvent, backlog: Int) {
        if event.isNotifiedValue, let isAlone = facts?.noteValue(), isAlone {
            return conversation.tell(event, backlog: backlog)
        }
        let admitted = gate.admit(event)
        withdraw()
        guard let event = admitted else { return }
        if let text = facts?.line(about: event) { note(text) }
        if let alert = facts?.alert(insteadOf: event) { self.alert(alert, app) }
        facts?.note(event)
        conversation.tell(event, backlog: backlog)
    }

    /// Shows the user an alert; whether whoever shows them reads what it is told.
    func show(_ alert: ClientAlert) -> Bool {
        guard showsAlerts, hasSession, stream.pendingOctets <= Self.alertBacklog else { return false }
        conversation.tell(.alert(alert), backlog: stream.pendingOctets)
        return true
    }

    private func open(_ hello: Hello) {
        guard let link = radios[hello.radio], let radio = radios.name(of: hello.radio) else {
            return conversation.refuse(Refusal(.noRadio, "there is no radio “\(hello.radio)”, only \(radios)"))
        }
        if let sentence = grant.refusal(of: hello.role, on: radio) {
            return conversation.refuse(Refusal(.notAllowed, sentence))
        }
        conversation.welcome()
        greeting?.cancel()
        hasBegun = true
        gate = SessionGate(grant, for: hello.role)
        facts = SessionFacts(hello, radio: radio, of: app)
        facts?.hearsAllValues = !gate.isFenced
        let key = AppKey(hello, of: app)
        if let key, let left = keptApps.take(key, hello.description) {
            guard hello.isContinued else { return goOn(with: left, hello.description) }
            // The app knows that all was lost, and asks for it again.
            keptApps.forget(left)
        }
        note("session began: \(hello.role.name) on \(radio)")
        let session = ServedSession(speak: speak)
        self.session = session
        kept = key.flatMap { keptApps.keep($0, hello.description, session) }
        session.open(hello.role, for: owner, on: link)
    }

    /// Gives the app the session that its last launch left.
    private func goOn(with left: KeptApp, _ description: AppDescription?) {
        kept = left
        session = left.session
        left.session.give(to: owner)
        note("session goes on: “\(left.key.identifier)”, \(left.key.role.name)")
        left.appReturned(description) { pass($0, backlog: 0) }
    }

    private func note(_ text: String) { log.note(text, of: app) }

    private func endSession() {
        if session != nil {
            let why = conversation.refusal?.sentence ?? (hasEnded ? "the app has gone" : "the app has ended it")
            note(kept == nil ? "session ended: \(why)" : "session is kept: \(why)")
        }
        if let kept { keptApps.appEnded(kept) } else { session?.close() }
        kept = nil
        session = nil
        facts = nil
    }
}

extension ClientEvent {
    fileprivate var isStateOfRadio: Bool { if case .stateChanged = self { true } else { false } }
}
