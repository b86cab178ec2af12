import Foundation

/// A lock around a value.
public final class OSAllocatedUnfairLock<State>: @unchecked Sendable {
    private let mutex = NSLock()
    private var state: State

    public init(initialState: State) { state = initialState }
    public init(uncheckedState: State) { state = uncheckedState }

    /// Calls a closure with the value, while no other thread uses it.
    public func withLock<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
        try withLockUnchecked(body)
    }

    /// Calls a closure with the value, while no other thread uses it.
    public func withLockUnchecked<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
        mutex.lock()
        defer { mutex.unlock() }
        return try body(&state)
    }
}

extension OSAllocatedUnfairLock where State == Void {
    public convenience init() { self.init(initialState: ()) }

    /// Calls a closure while no other thread holds the lock.
    public func withLock<Result>(_ body: () throws -> Result) rethrows -> Result {
        try withLockUnchecked { _ in try body() }
    }
    public func lock() { mutex.lock() }
    public func unlock() { mutex.unlock() }
    public func lockIfAvailable() -> Bool { mutex.try() }
}

/// The storage of a lock for the functions below.
public struct os_unfair_lock {
    fileprivate var mutex = pthread_mutex_t()
    /// Creates a free lock.
    public init() {}
}

public typealias os_unfair_lock_s = os_unfair_lock
public typealias os_unfair_lock_t = UnsafeMutablePointer<os_unfair_lock>

/// Waits until the lock is free, and takes it.
public func os_unfair_lock_lock(_ lock: os_unfair_lock_t) { withMutex(of: lock) { _ = pthread_mutex_lock($0) } }

/// Takes the lock if it is free.
public func os_unfair_lock_trylock(_ lock: os_unfair_lock_t) -> Bool {
    withMutex(of: lock) { pthread_mutex_trylock($0) == 0 }
}

/// Releases the lock.
public func os_unfair_lock_unlock(_ lock: os_unfair_lock_t) { withMutex(of: lock) { _ = pthread_mutex_unlock($0) } }

private func withMutex<Result>(
    of lock: os_unfair_lock_t,
    _ body: (UnsafeMutablePointer<pthread_mutex_t>) -> Result
) -> Result {
    lock.withMemoryRebound(to: pthread_mutex_t.self, capacity: 1, body)
}
