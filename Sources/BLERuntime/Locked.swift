import Synchronization

/// A value with a `Mutex` whose order the thread sanitizer understands.
///
/// When threads compete for a `Mutex`, the standard library hands it over in code that is not instrumented, and the
/// sanitizer reports a race, here and in programs that use this package. So each turn ends with a store that the next
/// one loads. The mutual exclusion is that of the mutex.
package struct Locked<Value: ~Copyable>: ~Copyable, Sendable {
    private let mutex: Mutex<Value>
    private let turn = Atomic<Bool>(false)

    /// Creates a lock around `value`, which must not be shared.
    package init(_ value: consuming sending Value) { mutex = Mutex(value) }

    /// Runs `body` with exclusive access to the value.
    ///
    /// `body` must not use the same lock.
    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        try mutex.withLock { value throws(Failure) in
            _ = turn.load(ordering: .acquiring)
            defer { turn.store(true, ordering: .releasing) }
            return try body(&value)
        }
    }
}
