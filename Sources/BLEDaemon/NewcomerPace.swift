import BLEWire

/// How fast newcomers are let in: so many at once, and then one in each interval.
///
/// To let somebody in, and to turn somebody away, costs the time of those who are there; whoever connects again and
/// again is held to a small share of it. Time that passes while few come is credited up to the first number.
struct NewcomerPace: Sendable {
    private let burst: Int
    private let interval: Duration
    /// When all that were let in would have come, had they kept the interval.
    private var spent = Instant()

    init(burst: Int, then interval: Duration) {
        precondition(burst > 0 && interval >= .zero, "somebody is let in, and time goes on")
        self.burst = burst
        self.interval = interval
    }

    /// Counts a newcomer who is let in at `now`; returns until when the next ones are to wait, if they are.
    mutating func letIn(at now: Instant) -> Instant? {
        spent = max(spent, now) + interval
        let next = spent + interval * (1 - burst)
        return next > now ? next : nil
    }
}
