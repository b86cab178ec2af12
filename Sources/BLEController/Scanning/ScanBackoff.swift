import BLEWire

/// How long an active scanner holds back, so that not all scanners ask at once.
///
/// Core 6.0, Vol 6, Part B, 4.4.3.2.
struct ScanBackoff: Sendable {
    private var upperLimit = 1
    private var count = 1
    private var successes = 0
    private var failures = 0

    /// Whether to ask for the scan response of the advertisement that was just heard.
    mutating func asks() -> Bool {
        count -= 1
        return count <= 0
    }

    /// Takes what became of the last request.
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
