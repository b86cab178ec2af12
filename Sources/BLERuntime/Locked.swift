import Synchronization

/// A value protected by a `Mutex`, in a way that the thread sanitizer understands.
///
/// When threads compete for a `Mutex`, the standard library passes the lock on in code that is not instrumented. The
/// sanitizer then reports a race, here and in programs that use this package. So each access ends with an atomic store
/// that the next access loads. The atomic accesses are only for the sanitizer: mutual exclusion comes from the mutex.
package struct Locked<Value: ~Copyable>: ~Copyable, Sendable {
    private let mutex: Mutex<Value>
    private let orderFlag = Atomic<Bool>(false)

    /// Creates a lock around `value`, which nothing else may reference.
    package init(_ value: consuming sending Value) { mutex = Mutex(value) }

    /// Runs `body` with exclusive access to the value.
    ///
    /// `body` must not call this method of the same object, which would deadlock.
    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        try mutex.withLock { value throws(Failure) in
            _ = orderFlag.load(ordering: .acquiring)
            defer { orderFlag.store(true, ordering: .releasing) }
            return try body(&value)
        }
    }
}
