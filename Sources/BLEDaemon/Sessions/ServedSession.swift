import BLEHost
import BLERuntime
import Synchronization

/// A host session of an app in another process, with the events that were not sent yet.
///
/// The host adds events in its turns; the daemon takes them in its next turn.
final class ServedSession: Sendable {
    /// Not `Locked`, which costs ten times as much: a generic type is only as fast as a field where it is specialized.
    private let said = Mutex<[ClientEvent]>([])
    private let session = Locked<(any HostSession)?>(nil)
    private let speak: @Sendable () -> Void

    /// Creates a session; call ``open(_:on:)`` to open it.
    ///
    /// `speak` is called when there are events to take.
    init(speak: @escaping @Sendable () -> Void) { self.speak = speak }

    /// Opens the session for an app.
    func open(_ role: ClientRole, for owner: ClientOwner, on link: any HostLink) {
        let opened = link.open(role, for: owner, .inTurn { [weak self] in self?.hear(&$0) })
        session.withLock { $0 = opened }
    }

    /// Sends a request of the app to the host.
    func perform(_ request: ClientRequest) { session.withLock { $0 }?.send(request) }

    /// Gives the session to another app, or to the same one with other rights.
    func give(to owner: ClientOwner) { session.withLock { $0 }?.give(to: owner) }

    /// Records that the app has ended while the session continues.
    func appEnded() {
        session.withLock { $0 }?.appEnded()
        perform(.appMoved(to: .background))
    }

    /// Records that the app has returned.
    func appReturned() {
        perform(.appMoved(to: .foreground))
        session.withLock { $0 }?.appReturned()
    }

    /// Closes the session.
    func close() { session.withLock { $0.take() }?.close() }

    /// Takes the events since the last call.
    func take(into events: inout [ClientEvent]) {
        said.withLock { said in if events.isEmpty { swap(&said, &events) } else { events += said; said = [] } }
    }

    /// Puts back events that were not sent, before all others.
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
