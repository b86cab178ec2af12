import Foundation

/// The observers of an object's properties.
///
/// The object's protected values report every access that might have changed something; then each observer compares the
/// current value of its property with the last value that it has seen. So no property has to be declared observable,
/// and an object without observers has no extra cost.
final class PropertyObservers: Sendable {
    private struct State {
        var watches: [(id: Int, compare: @Sendable () -> Bool)] = []
        var next = 0
        /// The thread that is comparing values; `nil` if there is none.
        ///
        /// Its own accesses do not count as changes.
        var comparing: Thread?
        /// True if another thread may have changed something during the comparison.
        var isStale = false
    }

    private let state = Protected(State())

    /// Adds an observer, and returns the number with which it can be removed.
    ///
    /// `compare` returns whether the observer has found a change.
    func add(_ compare: @escaping @Sendable () -> Bool) -> Int {
        state.withLock { state in
            state.next += 1
            state.watches.append((state.next, compare))
            return state.next
        }
    }

    func remove(_ id: Int) { state.withLock { $0.watches.removeAll { $0.id == id } } }

    /// Makes every observer compare the current value of its property with the previous one.
    ///
    /// If another thread is already comparing, makes that thread compare once more. If the calling thread is comparing,
    /// does nothing, because the call comes from an observer or its handler.
    func compareValues() {
        guard var watches = begin() else { return }
        while true {
            var hasChanged = false
            for watch in watches where watch.compare() { hasChanged = true }
            guard let more = remainingWatches(hasChanged) else { return }
            watches = more
        }
    }

    private func begin() -> [(id: Int, compare: @Sendable () -> Bool)]? {
        state.withLock { state in
            guard !state.watches.isEmpty else { return nil }
            if let comparing = state.comparing {
                if comparing !== Thread.current { state.isStale = true }
                return nil
            }
            state.comparing = Thread.current
            return state.watches
        }
    }

    /// Returns the observers that must compare again, because a handler or another thread may have changed something;
    /// `nil` if none has to.
    ///
    /// `hasChanged` is true if an observer has found a change, and has thus called its handler.
    private func remainingWatches(_ hasChanged: Bool) -> [(id: Int, compare: @Sendable () -> Bool)]? {
        state.withLock { state in
            defer { state.isStale = false }
            if hasChanged || state.isStale { return state.watches }
            state.comparing = nil
            return nil
        }
    }
}

/// One observer of one property.
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

    /// Calls the handler if the value has changed, and returns whether it has.
    func compareValue() -> Bool {
        let (object, keyPath) = state.withLock { ($0.object, $0.keyPath) }
        guard let object else { return false }
        let new = object[keyPath: keyPath]
        let old = state.withLock { state in
            defer { state.last = new }
            return state.last
        }
        guard !isSame(old, new) else { return false }
        callHandler(old: old, new: new)
        return true
    }

    func callHandler(old: Value?, new: Value) {
        guard let object = state.withLock({ $0.object }) else { return }
        handler(
            object,
            NSKeyValueObservedChange(
                new: options.contains(.new) ? new : nil,
                old: options.contains(.old) ? old : nil
            )
        )
    }

    /// Returns whether two values are equal.
    ///
    /// Values that are not `Equatable` are the same if they are the same object, or neither is an object. If they
    /// always counted as changed, ``PropertyObservers/compareValues()`` would never end.
    private func isSame(_ old: Value, _ new: Value) -> Bool {
        if let old = old as? any Equatable { return isSame(old, as: new) }
        return object(in: old) === object(in: new)
    }

    /// Returns the object that `value` is or, if `value` is optional, contains; `nil` if there is none.
    private func object(in value: Value) -> AnyObject? {
        let mirror = Mirror(reflecting: value)
        let content: Any? = mirror.displayStyle == .optional ? mirror.children.first?.value : value
        guard let content, type(of: content) is AnyClass else { return nil }
        return content as AnyObject
    }

    private func isSame<Known: Equatable>(_ old: Known, as new: Value) -> Bool { old == new as? Known }
}
