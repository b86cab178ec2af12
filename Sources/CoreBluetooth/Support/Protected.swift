import Synchronization

/// A value that is stored inline in its owner and protected by a lock, so that any thread can use it.
///
/// `Mutex` requires that no other code can reach its value. That is not true of delegates, which belong to the app and
/// are not `Sendable`. So this type is `@unchecked Sendable`: the lock makes each access atomic, only the manager's
/// queue calls delegates, and none of the app's code runs while the lock is held.
///
/// It does the same as `Locked`, which is in another module. The compiler can specialize a generic type only within its
/// own module: an access takes 60 instructions here instead of 800.
struct Protected<Value>: ~Copyable, @unchecked Sendable {
    // These two types are not private, because in debug builds the compiler would not find them from other files.
    struct Content {
        var value: Value
        var watchers: PropertyObservers?
    }

    /// A wrapper that passes non-Sendable values through the lock.
    struct Carrier<Carried: ~Copyable>: ~Copyable, @unchecked Sendable {
        var carried: Carried
    }

    private let mutex: Mutex<Carrier<Content>>
    /// A flag that is stored at the end of each access and loaded at the start of the next one, so that the thread
    /// sanitizer sees the order of the accesses.
    private let orderFlag = Atomic<Bool>(false)

    init(_ value: Value) { mutex = Mutex(Carrier(carried: Content(value: value))) }

    func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var watchers: PropertyObservers?
        let result = try access { content throws(Failure) in
            watchers = content.watchers
            return try body(&content.value)
        }
        watchers?.compareValues()
        return result
    }

    /// Makes `watchers` compare their values, outside of the lock, whenever this value may have changed.
    func reportChanges(to watchers: PropertyObservers) { access { $0.watchers = watchers } }

    /// The current value.
    var current: Value { access { $0.value } }

    private func access<Result: ~Copyable, Failure: Error>(
        _ body: (inout Content) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try mutex.withLock { content throws(Failure) in
            _ = orderFlag.load(ordering: .acquiring)
            defer { orderFlag.store(true, ordering: .releasing) }
            return Carrier(carried: try body(&content.carried))
        }.carried
    }
}

/// A value that several threads can share, read and change, because a lock protects it.
final class LockedBox<Value>: Sendable {
    private let content: Protected<Value>

    init(_ value: Value) { content = Protected(value) }

    func withLock<Result, Failure: Error>(_ body: (inout Value) throws(Failure) -> Result) throws(Failure) -> Result {
        try content.withLock(body)
    }

    /// The current value.
    var current: Value { content.current }
}
