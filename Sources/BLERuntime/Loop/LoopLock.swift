import Glibc

/// The lock that a thread holds while it runs a loop's work.
///
/// Two threads rarely compete for the lock. If they do, a `Mutex` of the standard library would spin before it sleeps,
/// and keep a processor from the thread that holds the lock. Sendable because a POSIX mutex provides the mutual
/// exclusion.
final class LoopLock: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

    init() {
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Runs `body` while holding the lock.
    ///
    /// `body` must not take the lock again, which would deadlock.
    func withLock<Result>(_ body: () -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }

    /// Runs `body` if the lock is free; returns `nil` otherwise.
    func withLockIfAvailable<Result>(_ body: () -> Result) -> Result? {
        guard pthread_mutex_trylock(mutex) == 0 else { return nil }
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }
}
