import BLEHost
import BLERuntime
import Synchronization

/// A session with a host on behalf of an app in another process, with the events that have not been sent to the app.
///
/// The host adds events during its turns, and the daemon takes them in its next turn.
final class RemoteAppSession: Sendable {
    /// The events that wait for the daemon to take them.
    ///
    /// A `Mutex`, because `Locked` would take ten times as long: the compiler does not specialize that generic type
    /// here.
    private let pending = Mutex<[ClientEvent]>([])
    private let session = Locked<(any HostSession)?>(nil)
    private let wake: @Sendable () -> Void

    /// Creates a session; call `open` to open it with a host.
    ///
    /// `wake` is called when there are events to take: on the host's thread, or on the thread that calls
    /// ``putBack(_:)``.
    init(wake: @escaping @Sendable () -> Void) { self.wake = wake }

    /// Opens the session for an app.
    func open(_ role: ClientRole, for owner: ClientOwner, on link: any HostLink) {
        let opened = link.open(role, for: owner, .inTurn { [weak self] in self?.receive(&$0) })
        session.withLock { $0 = opened }
    }

    /// Sends a request from the app to the host.
    func perform(_ request: ClientRequest) { session.withLock { $0 }?.send(request) }

    /// Makes `owner` the owner of the session: another app, or the same app with other permissions.
    func transfer(to owner: ClientOwner) { session.withLock { $0 }?.transfer(to: owner) }

    /// Tells the host that the app has ended while the session continues.
    func appEnded() {
        session.withLock { $0 }?.appEnded()
        perform(.appPhaseChanged(to: .background))
    }

    /// Tells the host that the app was launched again.
    func appReturned() {
        perform(.appPhaseChanged(to: .foreground))
        session.withLock { $0 }?.appReturned()
    }

    func close() { session.withLock { $0.take() }?.close() }

    /// Moves the events that have arrived since the last call to the end of `events`.
    func take(into events: inout [ClientEvent]) {
        pending.withLock { pending in
            if events.isEmpty { swap(&pending, &events) } else { events += pending; pending = [] }
        }
    }

    /// Puts back events that were not sent, in front of all others.
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
