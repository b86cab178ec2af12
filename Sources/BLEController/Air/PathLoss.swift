/// How much of a signal is left after some distance: the log-distance model of a room with things in it.
///
/// | property | value |
/// | --- | --- |
/// | loss at one metre | 40 dB |
/// | exponent | 2.5, between open space (2) and a building (3) |
/// | noise | whole decibels from −2 to 2, drawn for each packet |
/// | sensitivity | −95 dBm; what arrives with less is not heard |
enum PathLoss {
    static let sensitivity = -95
    /// The noise of one packet is at most this many decibels up or down.
    static let noise = 2
    /// Two antennas are never closer than this, in metres.
    private static let nearest = 0.5

    /// The strength in dBm at which a packet arrives on average that leaves with `power` dBm.
    static func strength(power: Int, distance: Double) -> Int {
        guard distance.isFinite else { return -200 }
        return power - (distance <= nearest ? leastLoss : loss(at: distance))
    }

    /// What is lost between antennas side by side, where most boards of a world are.
    private static let leastLoss = loss(at: nearest)

    private static func loss(at distance: Double) -> Int {
        Int(min(40 + 25 * decimalLogarithm(distance), 400).rounded())
    }

    /// The logarithm to base 10 of a positive finite number.
    ///
    /// Its own few lines, so that the same bits come out on every machine.
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
