import BLEWire

/// The loss of signal strength over distance: the log-distance model of a furnished room.
///
/// | property | value |
/// | --- | --- |
/// | loss at one metre | 40 dB |
/// | exponent | 2.5, between open space (2) and a building (3) |
/// | noise | whole decibels from −2 to 2, chosen at random for each packet |
/// | sensitivity | −95 dBm; weaker packets are not received |
enum PathLoss {
    static let sensitivity = -95
    /// The maximum change of one packet's strength by noise, up or down, in decibels.
    static let noise = 2
    /// The minimum distance between two antennas, in metres; shorter distances are treated as this one.
    private static let nearest = 0.5

    /// Returns the mean strength in dBm, at a distance in metres, of a packet sent at `power` dBm.
    static func strength(power: Int, distance: Double) -> Int {
        guard distance.isFinite else { return -200 }
        return power - (distance <= nearest ? leastLoss : loss(at: distance))
    }

    /// The loss at ``nearest``, stored because most simulated controllers are no farther apart than that.
    private static let leastLoss = loss(at: nearest)

    private static func loss(at distance: Double) -> Int {
        Int(min(40 + 25 * decimalLogarithm(distance), 400).rounded())
    }

    /// Returns the logarithm to base 10 of a positive finite number.
    ///
    /// It is implemented here so that the result is the same on every machine.
    static func decimalLogarithm(_ value: Double) -> Double {
        let ratio = (value.significand - 1) / (value.significand + 1)
        let square = ratio * ratio
        // The series of 2·artanh, the natural logarithm of a significand from 1 to 2, to nine digits.
        var term = ratio, sum = 0.0
        for odd in 0..<9 {
            sum += term / Double(2 * odd + 1)
            term *= square
        }
        return (Double(value.exponent) * 0.693147180559945309 + 2 * sum) * 0.434294481903251828
    }
}

/// The part of an ``Air``'s state that a packet exchange on a link needs: random numbers, packet loss and recorded
/// packets.
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

/// The position of a controller, in metres.
package struct Position: Hashable, Sendable {
    package var x: Double
    package var y: Double
    package var z: Double

    package init(x: Double = 0, y: Double = 0, z: Double = 0) {
        self.x = x
        self.y = y
        self.z = z
    }

    /// Returns the distance to `other`, in metres.
    package func distance(to other: Self) -> Double {
        let (dx, dy, dz) = (x - other.x, y - other.y, z - other.z)
        return (dx * dx + dy * dy + dz * dz).squareRoot()
    }
}
