import BLEWire

/// Notices when nothing authentic comes over an encrypted link, and asks the other end before the host hears of that.
///
/// Core 6.0, Vol 6, Part B, 5.4.
struct AuthenticatedPayloadTimer: Sendable {
    private enum State: Sendable {
        case off
        /// Something authentic came, or the host was told that nothing does.
        case listening(since: Instant)
        /// Nothing came for half of the time, and the other end was asked.
        case asking(since: Instant)
    }

    private var state = State.off

    /// When to call ``expire(at:timeout:)``, if nothing authentic comes before.
    func deadline(timeout: Duration) -> Instant? {
        switch state {
        case .off: nil
        case .listening(let instant): instant + timeout / 2
        case .asking(let instant): instant + timeout
        }
    }

    /// The link is encrypted.
    mutating func start(at now: Instant) { state = .listening(since: now) }

    /// Something authentic has come, or the host has set another timeout.
    mutating func restart(at now: Instant) {
        switch state {
        case .off: break
        case .listening, .asking: state = .listening(since: now)
        }
    }

    enum OnExpire: Equatable {
        /// Ask the other end for something authentic.
        case ping
        /// Tell the host.
        case tell
        case nothing
    }

    mutating func expire(at now: Instant, timeout: Duration) -> OnExpire {
        guard let deadline = deadline(timeout: timeout), deadline <= now else { return .nothing }
        let action: OnExpire
        (state, action) =
            switch state {
            case .off: (state, .nothing)
            case .listening(let instant): (.asking(since: instant), .ping)
            case .asking: (.listening(since: now), .tell)
            }
        return action
    }
}
