import Foundation

/// Those who want to hear when what an object says of itself changes.
///
/// An object's guarded values tell it of every access that might have been a change, and each watch then compares what
/// it has seen last with what there is now. So nothing has to be declared observable, and an object that nobody
/// observes pays nothing.
final class Watchers: Sendable {
    private struct State {
        var watches: [(id: Int, look: @Sendable () -> Bool)] = []
        var next = 0
        /// The thread that is looking, whose own accesses are no changes.
        var looking: Thread?
        /// Whether another thread changed something meanwhile.
        var isStale = false
    }

    private let state = Protected(State())

    /// Adds a watch, which says whether it saw a change, and returns the number under which it can be removed.
    func add(_ look: @escaping @Sendable () -> Bool) -> Int {
        state.withLock { state in
            state.next += 1
            state.watches.append((state.next, look))
            return state.next
        }
    }

    func remove(_ id: Int) { state.withLock { $0.watches.removeAll { $0.id == id } } }

    /// Has every watch look, unless this is one of them looking.
    func look() {
        guard var watches = begin() else { return }
        while true {
            var hasChanged = false
            for watch in watches where watch.look() { hasChanged = true }
            guard let more = goOn(hasChanged) else { return }
            watches = more
        }
    }

    private func begin() -> [(id: Int, look: @Sendable () -> Bool)]? {
        state.withLock { state in
            guard !state.watches.isEmpty else { return nil }
            if let looking = state.looking {
                if looking !== Thread.current { state.isStale = true }
                return nil
            }
            state.looking = Thread.current
            return state.watches
        }
    }

    /// Those who are to look again, since somebody who was told changed something, or another thread did.
    private func goOn(_ hasChanged: Bool) -> [(id: Int, look: @Sendable () -> Bool)]? {
        state.withLock { state in
            defer { state.isStale = false }
            if hasChanged || state.isStale { return state.watches }
            state.looking = nil
            return nil
        }
    }
}

/// One property that somebody observes.
final class Watch<Object: AnyObject, Value>: Sendable {
    private struct State {
        weak var object: Object?
        let keyPath: KeyPath<Object, Value>
        var last: Value
    }

    private let state: Protected<State>
    private let options: NSKeyValueObservingOptions
    private let handler: @Sendable (Object, NSKeyValueObservedChange<Value>) -> Void

    init(
        _ object: Object,
        _ keyPath: KeyPath<Object, Value>,
        _ options: NSKeyValueObservingOptions,
        _ handler: @escaping @Sendable (Object, NSKeyValueObservedChange<Value>) -> Void
    ) {
        state = Protected(State(object: object, keyPath: keyPath, last: object[keyPath: keyPath]))
        self.options = options
        self.handler = handler
    }

    /// Tells of the value if it is another one than before, and says whether it is.
    func look() -> Bool {
        let (object, keyPath) = state.withLock { ($0.object, $0.keyPath) }
        guard let object else { return false }
        let new = object[keyPath: keyPath]
        let old = state.withLock { state in
            defer { state.last = new }
            return state.last
        }
        guard !isSame(old, new) else { return false }
        tell(old: old, new: new)
        return true
    }

    func tell(old: Value?, new: Value) {
        guard let object = state.withLock({ $0.object }) else { return }
        handler(
            object,
            NSKeyValueObservedChange(
                new: options.contains(.new) ? new : nil,
                old: options.contains(.old) ? old : nil
            )
        )
    }

    private func isSame(_ old: Value, _ new: Value) -> Bool {
        guard let old = old as? any Equatable else { return false }
        return isSame(old, as: new)
    }

    private func isSame<Known: Equatable>(_ old: Known, as new: Value) -> Bool { old == new as? Known }
}
