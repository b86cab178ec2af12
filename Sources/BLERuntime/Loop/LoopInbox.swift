import Glibc
import LinuxCalls

/// What other threads leave for the thread of a loop, and whether they have to ring for it.
///
/// Sendable because any thread may leave something, and the system keeps the bell.
final class LoopInbox: Sendable {
    private struct Contents {
        var bodies: [@Sendable () -> Void] = []
        /// Whether a round must begin.
        var isWoken = false
        /// Whether the thread waits, so that others may take a turn.
        var isWaiting = false
        /// Whether the thread is about to sleep, so that it must be rung for.
        var isAsleep = false
        var isStopped = false
    }

    private let contents = Locked(Contents())
    /// Written to when the thread waits and must not; its number is -1 if the process had no descriptor left.
    let bell = Descriptor(eventfd(0, O_NONBLOCK | O_CLOEXEC))

    /// How long the thread may wait at most, in nanoseconds; `nil` without limit, since it can be rung for.
    var longestWait: Int64? { bell.raw < 0 ? 10_000_000 : nil }

    /// Leaves work for the next round.
    func post(_ body: @escaping @Sendable () -> Void) { tell { $0.bodies.append(body) } }

    /// Has a round begin soon.
    func wake() { tell { _ in } }

    /// Has the next round be the last.
    func stop() { tell { $0.isStopped = true } }

    private func tell(_ change: (inout Contents) -> Void) {
        let mustRing = contents.withLock { contents in
            change(&contents)
            contents.isWoken = true
            contents.isWaiting = false
            defer { contents.isAsleep = false }
            return contents.isAsleep
        }
        guard mustRing else { return }
        var count: UInt64 = 1
        write(bell.raw, &count, MemoryLayout<UInt64>.size)
    }

    var isWoken: Bool { contents.withLock { $0.isWoken } }

    /// Whether the thread waits and nobody has woken it.
    var isWaiting: Bool { contents.withLock { $0.isWaiting && !$0.isWoken } }

    /// The thread is about to wait, and to sleep if `isAsleep`, unless somebody has woken it; returns whether it may.
    func waits(asleep isAsleep: Bool) -> Bool {
        contents.withLock { contents in
            contents.isWaiting = !contents.isWoken
            contents.isAsleep = contents.isWaiting && isAsleep
            return contents.isWaiting
        }
    }

    /// The thread, which waits, is about to sleep, unless somebody has woken it; returns whether it may.
    func sleeps() -> Bool {
        contents.withLock { contents in
            contents.isAsleep = !contents.isWoken
            return contents.isAsleep
        }
    }

    /// Forgets that somebody rang.
    func hush() {
        var count: UInt64 = 0
        read(bell.raw, &count, MemoryLayout<UInt64>.size)
    }

    /// A round begins: exchanges what is empty for the work that is there, and returns whether the thread goes on.
    func begin(_ bodies: inout [@Sendable () -> Void]) -> Bool {
        contents.withLock { contents in
            contents.isWaiting = false
            contents.isAsleep = false
            contents.isWoken = false
            if !contents.bodies.isEmpty { swap(&contents.bodies, &bodies) }
            return !contents.isStopped
        }
    }
}
