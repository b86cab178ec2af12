import BLEHost
import BLERuntime
import BLESession
import BLEWire
import Dispatch

/// The connection of an app, from its greeting on.
///
/// Sendable because everything happens on the thread of the daemon's loop.
final class AppConnection: @unchecked Sendable {
    /// How many requests of an app are handed on before those of others get their turn.
    private static let share = 32

    /// Whose program is at the other end, as the kernel says; `nil` if it cannot.
    let peer: (user: UInt32, process: Int32)?

    private let stream: SocketStream
    private let radios: Radios
    private let keptApps: KeptApps
    private let speak: @Sendable () -> Void
    private var conversation = DaemonConversation()
    private var session: ServedSession?
    /// The session, if it goes on when the app ends.
    private var kept: KeptApp?
    private var events: [ClientEvent] = []
    private var isPaused = false
    private var hasEnded = false

    /// Creates a connection on a stream that has been started.
    ///
    /// - Parameters:
    ///   - stream: What the kernel has of it.
    ///   - radios: Those that a session can be had on.
    ///   - keptApps: The sessions that go on without their apps.
    ///   - speak: Called on any thread when ``takeTurn()`` has something to do.
    init(
        _ stream: SocketStream,
        to radios: Radios,
        keeping keptApps: KeptApps,
        speak: @escaping @Sendable () -> Void
    ) {
        self.stream = stream
        self.radios = radios
        self.keptApps = keptApps
        self.speak = speak
        peer = stream.peer
    }

    /// Whether everything has been said, or nobody hears it.
    var isOver: Bool { hasEnded || conversation.isOver && stream.pendingOctets == 0 }

    /// Whether the app has a session.
    var hasSession: Bool { session != nil }

    /// Takes what the app says.
    func receive(_ chunk: Span<UInt8>) { conversation.receive(chunk) }

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
        session?.take(into: &events)
        let backlog = stream.pendingOctets
        for event in events { tell(event, backlog: backlog) }
        events.removeAll(keepingCapacity: events.count <= 1_024)
        conversation.takeOctets { stream.write($0) }
        if conversation.isOver { endSession() }
        // Whoever has said more than its share is not listened to until that is done.
        if conversation.hasActions != isPaused {
            isPaused = conversation.hasActions
            if isPaused { stream.pause() } else { stream.resume() }
        }
        return conversation.hasActions
    }

    /// Does what the app asked for last, lets go of what it had, and ends the stream.
    func end() {
        while let action = conversation.takeAction() { perform(action) }
        endSession()
        stream.close()
    }

    private func perform(_ action: DaemonConversation.Action) {
        switch action {
        case .open(let hello): open(hello)
        case .request(_, let request):
            kept?.note(request)
            session?.perform(request)
        case .refuse(let number, let refusal): conversation.refuse(number, refusal)
        case .close:
            if let kept { keptApps.forget(kept) }
            kept = nil
            endSession()
        }
    }

    private func tell(_ event: ClientEvent, backlog: Int) {
        guard let kept else { return conversation.tell(event, backlog: backlog) }
        _ = kept.hear(event, canLaunch: false) { conversation.tell($0, backlog: backlog) }
    }

    private func open(_ hello: Hello) {
        guard let link = radios[hello.radio] else {
            return conversation.refuse(Refusal(.noRadio, "there is no radio “\(hello.radio)”, only \(radios)"))
        }
        conversation.welcome()
        let key = AppKey(hello, of: peer)
        if let key, let left = keptApps.take(key) {
            guard hello.isContinued else { return goOn(with: left) }
            // The app knows that all was lost, and asks for it again.
            keptApps.forget(left)
        }
        let session = ServedSession(speak: speak)
        self.session = session
        kept = key.flatMap { keptApps.keep($0, session) }
        session.open(hello.role, on: link, queue: DispatchQueue(label: "bled.session"))
    }

    /// Gives the app the session that its last launch left.
    private func goOn(with left: KeptApp) {
        kept = left
        session = left.session
        left.appReturned { conversation.tell($0, backlog: 0) }
    }

    private func endSession() {
        if let kept { kept.appEnded() } else { session?.close() }
        kept = nil
        session = nil
    }
}
