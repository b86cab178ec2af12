import BLEWire

/// The parts of the air that an exchange needs.
struct AirPath: Sendable {
    var random: SeededGenerator
    var loss: Double
    /// The sent packets, if they are recorded.
    var records: [AirRecord]?

    /// Decides whether a packet with the mean `strength` in dBm arrives.
    @inline(__always)
    mutating func delivers(strength: Int) -> Bool {
        if strength < PathLoss.sensitivity + PathLoss.noise {
            guard strength + noise() >= PathLoss.sensitivity else { return false }
        }
        return !random.happens(loss)
    }

    /// Draws the noise of one packet, in decibels.
    @inline(__always)
    mutating func noise() -> Int { Int(random.below(Int64(2 * PathLoss.noise + 1))) - PathLoss.noise }
}
