import BLEWire

/// When and where a receiver listens for advertisements: on one PHY, for a window of each interval, on the next of
/// the three channels each time.
///
/// Core 6.0, Vol 6, Part B, 4.4.3.
struct ScanWindow: Equatable, Sendable {
    let phy: AirPHY
    /// Whether the receiver asks for scan responses.
    let isActive: Bool
    /// Nanoseconds.
    let interval: Int64
    /// Nanoseconds.
    let window: Int64
    var start: Instant

    /// Whether the receiver hears a packet that begins at `instant` on `channel`, 37 to 39.
    @inline(__always)
    func hears(_ channel: Int, _ phy: AirPHY, at instant: Instant) -> Bool {
        let elapsed = instant.nanoseconds(since: start)
        guard elapsed >= 0, phy.number == self.phy.number else { return false }
        let (turn, offset) = elapsed.quotientAndRemainder(dividingBy: interval)
        return Int(turn % 3) == channel - 37 && offset < window
    }
}
