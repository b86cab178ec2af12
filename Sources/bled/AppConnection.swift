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
    private let speak: @Sendable () -> Void
    private var conversation = DaemonConversation()
    private var session: ServedSession?
    private var events: [ClientEvent] = []
    private var isPaused = false

    /// Creates a connection on a stream that has been started.
    ///
    /// - Parameters:
    ///   - stream: What the kernel has of it.
    ///   - radios: Those that a session can be had on.
    ///   - speak: Called on any thread when ``takeTurn()`` has something to do.
    init(_ stream: SocketStream, to radios: Radios, speak: @escaping @Sendable () -> Void) {
        self.stream = stream
        self.radios = radios
        self.speak = speak
        peer = stream.peer
    }

    /// Whether everything has been said.
    var isOver: Bool { conversation.isOver && stream.pendingOctets == 0 }

    /// Whether the app has a session.
    var hasSession: Bool { session != nil }

    /// Takes what the app says.
    func receive(_ chunk: Span<UInt8>) { conversation.receive(chunk) }

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
        for event in events { conversation.tell(event, backlog: backlog) }
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

    /// Lets go of what the app had; the stream has ended or will.
    func end() {
        endSession()
        stream.close()
    }

    private func perform(_ action: DaemonConversation.Action) {
        switch action {
        case .open(let hello): open(hello)
        case .request(_, let request): session?.perform(request)
        case .close: endSession()
        }
    }

    private func open(_ hello: Hello) {
        guard let link = radios[hello.radio] else {
            return conversation.refuse(Refusal(.noRadio, "there is no radio “\(hello.radio)”, only \(radios)"))
        }
        conversation.welcome()
        let session = ServedSession(speak: speak)
        self.session = session
        session.open(hello.role, on: link, queue: DispatchQueue(label: "bled.session"))
    }

    private func endSession() {
        session?.close()
        session = nil
    }
}
