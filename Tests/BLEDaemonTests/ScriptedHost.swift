import BLEHost
import BLERuntime

/// A host that says what a test wants, when it is wanted.
final class ScriptedHost: HostLink {
    private struct State {
        var receiver: EventReceiver?
        var requests: [ClientRequest] = []
        var answer: (@Sendable () -> Void)?
    }

    private struct Session: HostSession {
        let host: ScriptedHost
        func send(_ request: ClientRequest) { host.take(request) }
        func close() {}
        func appEnded() {}
        func appReturned() {}
    }

    private let state = Locked(State())

    /// What somebody has asked for.
    var requests: [ClientRequest] { state.withLock { $0.requests } }

    /// How often somebody has asked for a scan.
    var scans: Int { requests.count { if case .scan = $0 { true } else { false } } }

    /// The radio is on when a session begins.
    func open(_ role: ClientRole, restoring identifier: String?, _ receiver: EventReceiver) -> any HostSession {
        state.withLock { $0.receiver = receiver }
        say(.stateChanged(.poweredOn))
        return Session(host: self)
    }

    /// Says something to the session that was opened last.
    func say(_ event: ClientEvent) { state.withLock { $0.receiver }?.deliver(event) }

    /// Has `answer` run when somebody asks for a scan the next time, on the thread that asks.
    func whenAsked(_ answer: @escaping @Sendable () -> Void) { state.withLock { $0.answer = answer } }

    private func take(_ request: ClientRequest) {
        state.withLock { state in
            state.requests.append(request)
            guard case .scan = request else { return nil as (@Sendable () -> Void)? }
            return state.answer.take()
        }?()
    }
}
