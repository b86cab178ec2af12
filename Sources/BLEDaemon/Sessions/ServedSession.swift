import BLEHost
import BLERuntime
import Synchronization

/// A session with a host that an app in another process has, and what the app has not been told.
///
/// The host speaks in its turns; the daemon takes what was said in its next turn.
final class ServedSession: Sendable {
    /// Not `Locked`, which costs ten times as much: a generic type is only as fast as a field where it is compiled with
    /// what it holds.
    private let said = Mutex<[ClientEvent]>([])
    private let session = Locked<(any HostSession)?>(nil)
    private let speak: @Sendable () -> Void

    /// Creates a session that begins with ``open(_:on:)``; `speak` is called when there is something to take.
    init(speak: @escaping @Sendable () -> Void) { self.speak = speak }

    /// Opens the session for an app.
    func open(_ role: ClientRole, for owner: ClientOwner, on link: any HostLink) {
        let opened = link.open(role, for: owner, .inTurn { [weak self] in self?.hear(&$0) })
        session.withLock { $0 = opened }
    }

    /// Has the host do what the app asks for.
    func perform(_ request: ClientRequest) { session.withLock { $0 }?.send(request) }

    /// Gives the session to another app, or to the same one with other rights.
    func give(to owner: ClientOwner) { session.withLock { $0 }?.give(to: owner) }

    /// The app has ended, and the session goes on.
    func appEnded() {
        session.withLock { $0 }?.appEnded()
        perform(.appMoved(to: .background))
    }

    /// The app is there again.
    func appReturned() {
        perform(.appMoved(to: .foreground))
        session.withLock { $0 }?.appReturned()
    }

    /// Ends the session.
    func close() { session.withLock { $0.take() }?.close() }

    /// Takes what the host has said since it was last asked.
    func take(into events: inout [ClientEvent]) {
        said.withLock { said in if events.isEmpty { swap(&said, &events) } else { events += said; said = [] } }
    }

    /// Takes back what nobody was told of, which comes before all else.
    func putBack(_ events: inout [ClientEvent]) {
        guard !events.isEmpty else { return }
        said.withLock { $0.insert(contentsOf: events, at: 0) }
        events.removeAll(keepingCapacity: true)
        speak()
    }

    private func hear(_ events: inout [ClientEvent]) {
        guard !events.isEmpty else { return }
        let isFirst = said.withLock { said in
            guard !said.isEmpty else {
                swap(&said, &events)
                return true
            }
            said += events
            return false
        }
        if isFirst { speak() }
    }
}
