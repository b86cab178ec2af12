import Synchronization

/// A value that a manager's queue changes and any thread can read, stored in its owner.
///
/// `Mutex` would require that no other code can reach its value. Delegates belong to the app and are not `Sendable`,
/// so this type makes that promise itself: the lock makes each access whole, and only the manager's queue calls
/// delegates. No code of an app runs while the lock is held.
///
/// It does the same as `Locked`, but is in this module because a generic type is only as fast as a field where it is
/// specialized: 60 instructions per access instead of 800.
struct Protected<Value>: ~Copyable, @unchecked Sendable {
    // These two are not private: the compiler does not find them from other files then, in builds for debugging.
    struct Content {
        var value: Value
        var watchers: PropertyObservers?
    }

    /// A wrapper that passes non-Sendable values through the lock.
    struct Carrier<Carried: ~Copyable>: ~Copyable, @unchecked Sendable {
        var carried: Carried
    }

    private let mutex: Mutex<Carrier<Content>>
    /// Ends each turn with a store that the next turn loads, an order that the thread sanitizer understands.
    private let turn = Atomic<Bool>(false)

    init(_ value: Value) { mutex = Mutex(Carrier(carried: Content(value: value))) }

    func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var watchers: PropertyObservers?
        let result = try access { content throws(Failure) in
            watchers = content.watchers
            return try body(&content.value)
        }
        watchers?.look()
        return result
    }

    /// Makes `watchers` compare whenever the value may have changed, outside of the lock.
    func tell(_ watchers: PropertyObservers) { access { $0.watchers = watchers } }

    /// The current value.
    var current: Value { access { $0.value } }

    private func access<Result: ~Copyable, Failure: Error>(
        _ body: (inout Content) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try mutex.withLock { content throws(Failure) in
            _ = turn.load(ordering: .acquiring)
            defer { turn.store(true, ordering: .releasing) }
            return Carrier(carried: try body(&content.carried))
        }.carried
    }
}
