import BLEWire

/// The backoff of an active scanner, which keeps several scanners from sending their scan requests at the same time.
///
/// Core 6.0, Vol 6, Part B, 4.4.3.2.
struct ScanBackoff: Sendable {
    private var upperLimit = 1
    private var count = 1
    private var successes = 0
    private var failures = 0

    /// Counts a received advertisement, and returns whether to send a scan request in response.
    mutating func asks() -> Bool {
        count -= 1
        return count <= 0
    }

    /// Adapts the backoff to whether the last scan request was answered.
    mutating func note(answered: Bool, random: inout SeededGenerator) {
        if answered {
            (successes, failures) = (successes + 1, 0)
            if successes == 2 { (upperLimit, successes) = (max(1, upperLimit / 2), 0) }
        } else {
            (successes, failures) = (0, failures + 1)
            if failures == 2 { (upperLimit, failures) = (min(256, upperLimit * 2), 0) }
        }
        count = 1 + Int(random.below(Int64(upperLimit)))
    }
}
