import Synchronization

/// A value that one thread uses at a time: a `Mutex` whose order the thread sanitizer sees.
///
/// Where threads compete for a `Mutex`, the standard library hands it over in code that is not built for the sanitizer,
/// which then takes every such use for a race, here and in the programs of those who use this package. So each turn
/// ends with a store which the next one loads. That is for the sanitizer alone: the mutex keeps the others out.
package struct Locked<Value: ~Copyable>: ~Copyable, Sendable {
    private let mutex: Mutex<Value>
    private let turn = Atomic<Bool>(false)

    /// Creates the lock around `value`, which nobody else may know.
    package init(_ value: consuming sending Value) { mutex = Mutex(value) }

    /// Runs `body` on the value while no other thread does; `body` must not come back here.
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
