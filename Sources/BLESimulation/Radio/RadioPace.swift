import BLEWire

/// The relation of air time to real time, for controllers that programs use over sockets.
///
/// Air time follows the clock. Activities happen a millisecond late, so that activities that are close together, such
/// as an advertisement and its reports, take place in one turn of the loop.
///
/// If `skipsIdleTime` is set, air time skips the time for which data would wait. Connections then transfer data as fast
/// as the hosts and the computer can, and all periodic activities happen more often. This is for measuring hosts. As a
/// side effect, a peer that disappears is lost immediately.
package struct RadioPace: Sendable {
    /// The delay of all activities on the air.
    static let slack = Duration.milliseconds(1)

    private let skipsIdleTime: Bool
    /// The amount by which air time is ahead of the clock.
    private var lead = Duration.zero

    /// Creates a pace; `skipsIdleTime` is true if data does not wait for connection events.
    package init(skipsIdleTime: Bool = false) { self.skipsIdleTime = skipsIdleTime }

    /// True if the air may be ahead of the clock.
    var mayJump: Bool { skipsIdleTime }

    /// Returns the air time when the clock shows `now`.
    func time(on now: Instant) -> Instant { now + lead }

    /// Returns the clock time of the turn in which an activity at `instant` of air time takes place.
    func turn(for instant: Instant) -> Instant { instant + (Self.slack - lead) }

    /// Sets the air time to `instant` when the clock shows `now`.
    ///
    /// Air time never goes back.
    mutating func jump(to instant: Instant, from now: Instant) { lead = max(lead, instant - now) }
}
