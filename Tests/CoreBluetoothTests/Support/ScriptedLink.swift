import BLEHost
import BLERuntime
import Foundation

/// A host that does nothing but write down what it is asked for, and say what a test has it say.
final class ScriptedLink: HostLink {
    private let opened = Locked<[ScriptedSession]>([])

    /// The sessions in the order in which managers opened them.
    var sessions: [ScriptedSession] { opened.withLock { $0 } }

    func open(
        _ role: ClientRole,
        restoring identifier: String?,
        _ receiver: EventReceiver
    ) -> any HostSession {
        let session = ScriptedSession(role, receiver)
        opened.withLock { $0.append(session) }
        return session
    }
}

/// One manager's conversation with a ``ScriptedLink``.
final class ScriptedSession: HostSession {
    private struct State {
        var requests: [ClientRequest] = []
        /// Requests to peers that nobody has answered.
        var unanswered: [(peer: PeerIdentifier, request: PeerRequest, number: RequestNumber)] = []
        var beginsScans = true
        var isClosed = false
    }

    let role: ClientRole
    private let queue: DispatchQueue
    private let receiver: EventReceiver
    private let state = Locked(State())
    /// Shows the thread sanitizer the order that a continuation gives, which it does not see by itself.
    private let order = NSLock()

    init(_ role: ClientRole, _ receiver: EventReceiver) {
        guard let queue = receiver.queue else { preconditionFailure("managers have a queue") }
        self.role = role
        self.queue = queue
        self.receiver = receiver
    }

    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Whether a scan begins as soon as it is asked for, as with a host that has nothing else to say; its number is not
    /// written down then.
    var beginsScans: Bool {
        get { state.withLock { $0.beginsScans } }
        set { state.withLock { $0.beginsScans = newValue } }
    }

    func send(_ request: ClientRequest) {
        switch request {
        case .scan(let scan, let number) where beginsScans:
            state.withLock { $0.requests.append(.scan(scan)) }
            queue.async { self.receiver.deliver(.scanBegan(number)) }
        case .peer(let peer, let request, let number):
            state.withLock {
                $0.requests.append(.peer(peer, request))
                if number != .none { $0.unanswered.append((peer, request, number)) }
            }
        default: state.withLock { $0.requests.append(request) }
        }
    }

    /// The same as the answer to the first request to a peer that it answers, if there is one.
    private func numbered(_ event: ClientEvent) -> ClientEvent {
        guard case .peer(let peer, let told, .none) = event else { return event }
        return state.withLock { state in
            let index = state.unanswered.firstIndex { $0.peer == peer && $0.request.isAnswered(by: told) }
            return .peer(peer, told, answering: index.map { state.unanswered.remove(at: $0).number } ?? .none)
        }
    }

    func close() { state.withLock { $0.isClosed = true } }
    func appEnded() {}
    func appReturned() {}

    /// What was asked for since the last call, without the numbers of requests to peers.
    func take() -> [ClientRequest] {
        state.withLock { state in
            defer { state.requests = [] }
            return state.requests
        }
    }

    /// Says something, and returns when the app has heard it.
    func tell(_ events: ClientEvent...) async {
        for event in events.map(numbered) { queue.async { self.receiver.deliver(event) } }
        await settle()
    }

    /// Says what has come together, and returns when the app has heard it.
    func tell(together events: [ClientEvent]) async {
        let all = events.map(numbered)
        queue.async {
            guard case .all(_, let receive) = self.receiver else { return }
            var events = all
            receive(&events)
        }
        await settle()
    }

    /// Returns when the app has heard all that was said so far.
    func settle() async {
        await withCheckedContinuation { continuation in
            queue.async {
                self.order.withLock {}
                continuation.resume()
            }
        }
        order.withLock {}
    }
}
