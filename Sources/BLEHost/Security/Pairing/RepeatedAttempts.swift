package import BLEWire

/// How often pairing with a device has failed, so that nobody can try one passkey after another.
///
/// After a failure nothing is tried for a second, and for twice as long after each further one, up to about a minute. A
/// minute without a failure halves that again. Whoever keeps peers keeps one of these for each, over links.
///
/// Core 6.0, Vol 3, Part H, 2.3.6.
package struct RepeatedAttempts: Equatable, Sendable {
    private enum State: Equatable, Sendable {
        case clear
        /// So many failures count, the last of which was then.
        case failed(count: Int, at: Instant)
    }

    /// How long to wait after the first failure.
    package static let leastInterval = Duration.seconds(1)
    /// By how many failures the wait grows.
    package static let countedFailures = 7
    /// After how long without a failure one of them counts no more.
    package static let forgiveness = Duration.seconds(60)

    private var state = State.clear

    package init() {}

    /// When the next attempt may be made; `nil` if that is now.
    package func next(at now: Instant) -> Instant? {
        guard case .failed(let count, let then) = state else { return nil }
        let due = then + Self.interval(count)
        return now < due ? due : nil
    }

    /// Notes that a pairing failed.
    package mutating func failed(at now: Instant) {
        state = .failed(count: min(remaining(at: now) + 1, Self.countedFailures), at: now)
    }

    /// Notes that a pairing succeeded.
    package mutating func succeeded() { state = .clear }

    /// Whether nothing is left to be remembered.
    package func isOver(at now: Instant) -> Bool { next(at: now) == nil && remaining(at: now) == 0 }

    /// How many failures count at this time.
    private func remaining(at now: Instant) -> Int {
        guard case .failed(let count, let then) = state else { return 0 }
        let quiet = max(now - (then + Self.interval(count)), .zero)
        return max(count - Int(quiet / Self.forgiveness), 0)
    }

    private static func interval(_ count: Int) -> Duration { leastInterval * (1 << max(count - 1, 0)) }
}
