import BLEWire

/// What an exchange needs of the world around it.
struct AirPath: Sendable {
    var random: SeededGenerator
    var loss: Double
    /// The packets sent, if somebody wants to see them.
    var records: [AirRecord]?

    /// Whether a packet arrives that would arrive with `strength` dBm on average.
    @inline(__always)
    mutating func delivers(strength: Int) -> Bool {
        if strength < PathLoss.sensitivity + PathLoss.noise {
            guard strength + noise() >= PathLoss.sensitivity else { return false }
        }
        return !random.happens(loss)
    }

    /// The noise of one packet, in decibels.
    @inline(__always)
    mutating func noise() -> Int { Int(random.below(Int64(2 * PathLoss.noise + 1))) - PathLoss.noise }
}
