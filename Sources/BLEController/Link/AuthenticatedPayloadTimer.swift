import BLEWire

/// The authenticated payload timer of an encrypted link.
///
/// After half of the timeout without an authenticated packet, this end sends a ping. After the whole timeout, the
/// controller reports the timeout to the host.
///
/// Core 6.0, Vol 6, Part B, 5.4.
struct AuthenticatedPayloadTimer: Sendable {
    private enum State: Sendable {
        case off
        /// `since` is the time of the last authenticated packet, or of the last report of the timeout.
        case listening(since: Instant)
        /// Half of the timeout has passed since `since` without an authenticated packet, and a ping has been sent.
        case asking(since: Instant)
    }

    private var state = State.off

    /// Returns the time at which to call ``expire(at:timeout:)`` unless an authenticated packet arrives first; `nil` if
    /// the timer is off.
    func deadline(timeout: Duration) -> Instant? {
        switch state {
        case .off: nil
        case .listening(let instant): instant + timeout / 2
        case .asking(let instant): instant + timeout
        }
    }

    /// Starts the timer; call this when the link becomes encrypted.
    mutating func start(at now: Instant) { state = .listening(since: now) }

    /// Restarts a running timer after an authenticated packet has arrived or the host has changed the timeout.
    mutating func restart(at now: Instant) {
        switch state {
        case .off: break
        case .listening, .asking: state = .listening(since: now)
        }
    }

    enum OnExpire: Equatable {
        /// Send a ping to the peer.
        case ping
        /// Report the timeout to the host.
        case report
        case nothing
    }

    mutating func expire(at now: Instant, timeout: Duration) -> OnExpire {
        guard let deadline = deadline(timeout: timeout), deadline <= now else { return .nothing }
        let action: OnExpire
        (state, action) =
            switch state {
            case .off: (state, .nothing)
            case .listening(let instant): (.asking(since: instant), .ping)
            case .asking: (.listening(since: now), .report)
            }
        return action
    }
}
