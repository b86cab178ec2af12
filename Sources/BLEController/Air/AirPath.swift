import BLEWire

/// The parts of the air that an exchange of packets on a link needs: random numbers, losses and the record.
struct AirPath: Sendable {
    var random: SeededGenerator
    var loss: Double
    /// The packets that were sent and not yet output; `nil` if packets are not recorded.
    var records: [AirRecord]?

    /// Decides at random whether a packet with a mean strength of `strength` dBm arrives.
    @inline(__always)
    mutating func delivers(strength: Int) -> Bool {
        if strength < PathLoss.sensitivity + PathLoss.noise {
            guard strength + noise() >= PathLoss.sensitivity else { return false }
        }
        return !random.happens(loss)
    }

    /// Chooses the noise of one packet at random, in decibels.
    @inline(__always)
    mutating func noise() -> Int { Int(random.below(Int64(2 * PathLoss.noise + 1))) - PathLoss.noise }
}
