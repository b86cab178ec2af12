import BLEHost
import BLERuntime
import Synchronization

/// A host session of an app in another process, with the events that were not sent yet.
///
/// The host adds events in its turns; the daemon takes them in its next turn.
final class ServedSession: Sendable {
    /// Not `Locked`, which costs ten times as much, because a generic type is not specialized here.
    private let pending = Mutex<[ClientEvent]>([])
    private let session = Locked<(any HostSession)?>(nil)
    private let wake: @Sendable () -> Void

    /// Creates a session; call ``open(_:on:)`` to open it.
    ///
    /// `wake` is called when there are events to take.
    init(wake: @escaping @Sendable () -> Void) { self.wake = wake }

    /// Opens the session for an app.
    func open(_ role: ClientRole, for owner: ClientOwner, on link: any HostLink) {
        let opened = link.open(role, for: owner, .inTurn { [weak self] in self?.receive(&$0) })
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
        pending.withLock { pending in
            if events.isEmpty { swap(&pending, &events) } else { events += pending; pending = [] }
        }
    }

    /// Puts back events that were not sent, before all others.
    func putBack(_ events: inout [ClientEvent]) {
        guard !events.isEmpty else { return }
        pending.withLock { $0.insert(contentsOf: events, at: 0) }
        events.removeAll(keepingCapacity: true)
        wake()
    }

    private func receive(_ events: inout [ClientEvent]) {
        guard !events.isEmpty else { return }
        let isFirst = pending.withLock { pending in
            guard !pending.isEmpty else {
                swap(&pending, &events)
                return true
            }
            pending += events
            return false
        }
        if isFirst { wake() }
    }
}
