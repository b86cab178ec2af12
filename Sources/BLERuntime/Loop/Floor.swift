import Glibc

/// What one thread at a time has: whoever does what belongs to a loop.
///
/// Two threads meet here when one was interrupted in its turn. To look again and again whether it goes on, as a `Mutex`
/// of the standard library does before it waits, would keep a processor from it.
/// Sendable because the system keeps threads apart.
final class Floor: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

    init() {
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Runs `body` when nobody has the floor; `body` must not come back here.
    func take<Result>(_ body: () -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }

    /// Runs `body` unless somebody has the floor; returns `nil` if somebody has.
    func takeIfFree<Result>(_ body: () -> Result) -> Result? {
        guard pthread_mutex_trylock(mutex) == 0 else { return nil }
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }
}
