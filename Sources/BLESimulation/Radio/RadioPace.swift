import BLEWire

/// The relation of air time to real time for controllers that programs reach over sockets.
///
/// Air time follows the clock, with activities a millisecond late, so that close ones, such as an advertisement and its
/// reports, take one turn. An air that hurries skips the time in which data would wait: connections then transfer data
/// as fast as hosts and computer can, and all periodic activities happen more often. That is for measuring hosts; a
/// peer that disappears is lost immediately.
package struct RadioPace: Sendable {
    /// The delay of activities.
    static let slack = Duration.milliseconds(1)

    private let hurries: Bool
    /// The difference between air time and the clock.
    private var lead = Duration.zero

    /// Creates a pace; `hurries` is true if data do not wait for connection events.
    package init(hurries: Bool = false) { self.hurries = hurries }

    /// True if the air may be ahead of the clock.
    var mayJump: Bool { hurries }

    /// Returns the air time when the clock shows `now`.
    func time(on now: Instant) -> Instant { now + lead }

    /// Returns the clock time of the turn for an activity at `instant` of air time.
    func turn(for instant: Instant) -> Instant { instant + (Self.slack - lead) }

    /// Sets the air time to `instant` when the clock shows `now`.
    ///
    /// Time never goes back.
    mutating func jump(to instant: Instant, from now: Instant) { lead = max(lead, instant - now) }
}
