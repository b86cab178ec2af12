package import BLEHost
package import BLEWire
import Synchronization

/// The observers of a manager, which receive its host events in addition to the delegate.
///
/// They are called on the manager's queue, after the delegate. By then, the app's objects are up to date. The last
/// event is the state ``HostState/unknown`` when the manager is released, on the thread that releases it.
package final class Observers: Sendable {
    /// The identifier of an observer.
    package struct ID: Hashable, Sendable {
        fileprivate let number: Int
    }

    /// A value of a peripheral, to which the app stays subscribed as long as the value has observers.
    package struct Subject: Hashable, Sendable {
        private let peer: PeerIdentifier
        private let handle: AttributeHandle

        /// Creates the subject for the value of `peer` with this handle.
        package init(_ handle: AttributeHandle, of peer: PeerIdentifier) { (self.peer, self.handle) = (peer, handle) }
    }

    private struct Entry {
        let id: ID
        let receive: @Sendable (ClientEvent) -> Void
        /// The value to which the app stays subscribed as long as this observer exists; `nil` for none.
        let subject: Subject?
    }

    private let content = Protected<(entries: [Entry], last: Int)>(([], 0))
    /// The number of observers.
    private let count = Atomic<Int>(0)

    /// Calls `receive` with every event from now on.
    ///
    /// - Parameters:
    ///   - subject: The value to which the app stays subscribed as long as the observer exists; `nil` for none.
    ///   - receive: Called on the manager's queue.
    /// - Returns: The identifier with which to remove the observer.
    package func add(of subject: Subject? = nil, _ receive: @escaping @Sendable (ClientEvent) -> Void) -> ID {
        content.withLock {
            $0.last += 1
            let id = ID(number: $0.last)
            $0.entries.append(Entry(id: id, receive: receive, subject: subject))
            count.store($0.entries.count, ordering: .releasing)
            return id
        }
    }

    /// Returns whether any observer was added for `subject`.
    package func hasObservers(of subject: Subject) -> Bool {
        content.withLock { $0.entries.contains { $0.subject == subject } }
    }

    /// Removes an observer.
    ///
    /// The observer may still receive an event that is being delivered.
    package func remove(_ id: ID) {
        content.withLock {
            $0.entries.removeAll { $0.id == id }
            count.store($0.entries.count, ordering: .releasing)
        }
    }

    /// True if there are no observers, which is the case in most apps.
    var isEmpty: Bool { count.load(ordering: .acquiring) == 0 }

    func deliver(_ event: ClientEvent) {
        for entry in content.withLock({ $0.entries }) { entry.receive(event) }
    }
}
