package import BLEWire

/// The failed pairing attempts of a device.
///
/// The failures delay the device's next attempt, so that it cannot try one passkey after another.
///
/// After the first failure, the next attempt must wait for a second. Each further failure doubles the wait, up to about
/// a minute; each minute without a failure halves it. The failures are stored per peer, across links.
///
/// Core 6.0, Vol 3, Part H, 2.3.6.
package struct RepeatedAttempts: Equatable, Sendable {
    private enum State: Equatable, Sendable {
        case clear
        /// The number of counted failures, and the time of the last failure.
        case failed(count: Int, at: Instant)
    }

    /// The wait after the first failure.
    package static let leastInterval = Duration.seconds(1)
    /// The maximum number of counted failures.
    package static let countedFailures = 7
    /// The time after which one failure is forgotten.
    package static let forgiveness = Duration.seconds(60)

    private var state = State.clear

    package init() {}

    /// Returns when the next attempt will be allowed; `nil` if it is allowed now.
    package func next(at now: Instant) -> Instant? {
        guard case .failed(let count, let then) = state else { return nil }
        let due = then + Self.interval(count)
        return now < due ? due : nil
    }

    /// Records a failed pairing.
    package mutating func failed(at now: Instant) {
        state = .failed(count: min(remaining(at: now) + 1, Self.countedFailures), at: now)
    }

    /// Records a successful pairing.
    package mutating func succeeded() { state = .clear }

    /// Returns whether all failures have expired; nothing then needs to be stored.
    package func isOver(at now: Instant) -> Bool { next(at: now) == nil && remaining(at: now) == 0 }

    /// Returns the number of counted failures at this time.
    private func remaining(at now: Instant) -> Int {
        guard case .failed(let count, let then) = state else { return 0 }
        let quiet = max(now - (then + Self.interval(count)), .zero)
        return max(count - Int(quiet / Self.forgiveness), 0)
    }

    private static func interval(_ count: Int) -> Duration { leastInterval * (1 << max(count - 1, 0)) }
}
