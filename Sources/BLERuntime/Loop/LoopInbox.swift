import Glibc
import LinuxCalls

/// The commands that other threads have queued for a loop's thread, and the state that decides whether to wake it.
///
/// Sendable because any thread may add commands, and the system synchronizes the wake-up descriptor.
final class LoopInbox: Sendable {
    private struct Contents {
        var bodies: [@Sendable () -> Void] = []
        /// True if a pass must start.
        var isWoken = false
        /// True if the thread is waiting or about to wait; it must then be woken, and another thread may take a turn.
        var isWaiting = false
        var isStopped = false
    }

    private let contents = Locked(Contents())
    /// The file descriptor that wakes the thread when it is written to; its number is -1 if the process had none left.
    let wakeDescriptor = FileDescriptor(eventfd(0, O_NONBLOCK | O_CLOEXEC))

    /// The maximum time that the thread may wait, in nanoseconds; `nil` for no limit.
    ///
    /// Without a wake-up descriptor, the thread must check regularly.
    var longestWait: Int64? { wakeDescriptor.raw < 0 ? 10_000_000 : nil }

    /// Queues a closure for the next pass.
    func post(_ body: @escaping @Sendable () -> Void) { update { $0.bodies.append(body) } }

    /// Makes the loop start a pass soon.
    func wake() { update { _ in } }

    /// Makes the next pass the last one.
    func stop() { update { $0.isStopped = true } }

    private func update(_ change: (inout Contents) -> Void) {
        let mustSignal = contents.withLock { contents in
            change(&contents)
            contents.isWoken = true
            defer { contents.isWaiting = false }
            return contents.isWaiting
        }
        guard mustSignal else { return }
        var count: UInt64 = 1
        write(wakeDescriptor.raw, &count, MemoryLayout<UInt64>.size)
    }

    /// True if the thread is waiting and has not been woken.
    var isWaiting: Bool { contents.withLock { $0.isWaiting } }

    /// Records that the thread is about to wait; returns false if it was woken and must not wait.
    func beginWaiting() -> Bool {
        contents.withLock { contents in
            contents.isWaiting = !contents.isWoken
            return contents.isWaiting
        }
    }

    /// Resets the wake-up descriptor after a wake-up.
    func clearWake() {
        var count: UInt64 = 0
        read(wakeDescriptor.raw, &count, MemoryLayout<UInt64>.size)
    }

    /// Starts a pass: moves the queued closures into `bodies`, which must be empty.
    ///
    /// Returns false if the loop has been stopped.
    func begin(_ bodies: inout [@Sendable () -> Void]) -> Bool {
        contents.withLock { contents in
            contents.isWaiting = false
            contents.isWoken = false
            if !contents.bodies.isEmpty { swap(&contents.bodies, &bodies) }
            return !contents.isStopped
        }
    }
}

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
