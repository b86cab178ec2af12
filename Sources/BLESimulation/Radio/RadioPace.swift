import BLEWire

/// How the time of an air passes that programs reach over sockets.
///
/// It passes as on the clock; what is due is done a millisecond late, so that what lies close together, such as an
/// advertisement and the reports of it, takes one turn. An air that hurries also jumps over the time in which data
/// would wait to be carried: connections then move data as fast as the hosts and the computer can, and everything else
/// that has an interval on the air happens more often. That is for measuring hosts; a peer that is gone is lost at
/// once.
package struct RadioPace: Sendable {
    /// How late what is due is done.
    static let slack = Duration.milliseconds(1)

    private let hurries: Bool
    /// How much later it is on the air than on the clock.
    private var lead = Duration.zero

    /// Creates a pace; `hurries` if data do not wait for the events of their connection.
    package init(hurries: Bool = false) { self.hurries = hurries }

    /// Whether the air may be ahead of the clock.
    var mayJump: Bool { hurries }

    /// The time on the air when it is `now` on the clock.
    func time(on now: Instant) -> Instant { now + lead }

    /// When on the clock to take a turn for what is due on the air at `instant`.
    func turn(for instant: Instant) -> Instant { instant + (Self.slack - lead) }

    /// Has it be `instant` on the air when it is `now` on the clock; time never goes back.
    mutating func jump(to instant: Instant, from now: Instant) { lead = max(lead, instant - now) }
}
