import BLEWire

/// The times and channels at which a receiver listens for advertisements on one PHY.
///
/// It listens during one window in each interval, and moves to the next of the three primary channels after each
/// interval.
///
/// Core 6.0, Vol 6, Part B, 4.4.3.
struct ScanWindow: Equatable, Sendable {
    let phy: AirPHY
    /// True if the receiver sends scan requests.
    let isActive: Bool
    /// The time from the start of one window to the start of the next, in nanoseconds.
    let interval: Int64
    /// The length of each window, in nanoseconds.
    let window: Int64
    var start: Instant

    /// Returns whether the receiver receives a packet that starts at `instant` on `channel`, 37 to 39.
    @inline(__always)
    func receives(_ channel: Int, _ phy: AirPHY, at instant: Instant) -> Bool {
        let elapsed = instant.nanoseconds(since: start)
        guard elapsed >= 0, phy.number == self.phy.number else { return false }
        let (turn, offset) = elapsed.quotientAndRemainder(dividingBy: interval)
        return Int(turn % 3) == channel - 37 && offset < window
    }
}
