package import BLEHost
package import BLEWire
import Synchronization

/// Those who hear what the host says beside the delegate of a manager.
///
/// They are told on the manager's queue, after the delegate: by then, what an app's objects say is up to date.
package final class Observers: Sendable {
    /// Names an observer.
    package struct ID: Hashable, Sendable {
        fileprivate let number: Int
    }

    /// A value of a peripheral, of which some observers hear as long as it is sent.
    package struct Subject: Hashable, Sendable {
        private let peer: PeerIdentifier
        private let handle: AttributeHandle

        /// The value of `peer` with this handle.
        package init(_ handle: AttributeHandle, of peer: PeerIdentifier) { (self.peer, self.handle) = (peer, handle) }
    }

    /// What an event is to somebody who waits for one.
    package enum Reception {
        /// It is something else.
        case passed
        /// It ends the waiting, and may end that of others.
        case heard
        /// It is what was waited for, and of no concern to others who wait.
        case answered
    }

    private struct Entry {
        let id: ID
        let receive: @Sendable (ClientEvent) -> Reception
        /// Whether this waits for one event alone.
        let isWaiting: Bool
        /// What has to be sent for this one's sake.
        let subject: Subject?
    }

    private let content = Protected<(entries: [Entry], last: Int)>(([], 0))
    /// How many there are, for those who would have something to tell.
    private let count = Atomic<Int>(0)

    /// Calls `receive` with every event from now on.
    ///
    /// - Parameters:
    ///   - subject: What has to be sent as long as there are observers of it.
    ///   - receive: Called on the manager's queue.
    /// - Returns: What to end it with.
    package func add(of subject: Subject? = nil, _ receive: @escaping @Sendable (ClientEvent) -> Void) -> ID {
        insert(isWaiting: false, of: subject) {
            receive($0)
            return .heard
        }
    }

    /// Calls `receive` with every event from now on, until one is what it waits for.
    ///
    /// An event that answers one who waits is not shown to those who began to wait later.
    package func wait(_ receive: @escaping @Sendable (ClientEvent) -> Reception) -> ID {
        insert(isWaiting: true, receive)
    }

    /// Whether there are observers of `subject`.
    package func areThere(of subject: Subject) -> Bool {
        content.withLock { $0.entries.contains { $0.subject == subject } }
    }

    private func insert(
        isWaiting: Bool,
        of subject: Subject? = nil,
        _ receive: @escaping @Sendable (ClientEvent) -> Reception
    ) -> ID {
        content.withLock {
            $0.last += 1
            let id = ID(number: $0.last)
            $0.entries.append(Entry(id: id, receive: receive, isWaiting: isWaiting, subject: subject))
            count.store($0.entries.count, ordering: .releasing)
            return id
        }
    }

    /// Calls an observer no more, but for an event that is under way.
    package func remove(_ id: ID) {
        content.withLock {
            $0.entries.removeAll { $0.id == id }
            count.store($0.entries.count, ordering: .releasing)
        }
    }

    /// Whether there is nobody to tell, which is so in most apps.
    var isEmpty: Bool { count.load(ordering: .acquiring) == 0 }

    func tell(_ event: ClientEvent) {
        var isAnswered = false
        for entry in content.withLock({ $0.entries }) where !entry.isWaiting || !isAnswered {
            let reception = entry.receive(event)
            guard entry.isWaiting, reception != .passed else { continue }
            remove(entry.id)
            isAnswered = isAnswered || reception == .answered
        }
    }
}
