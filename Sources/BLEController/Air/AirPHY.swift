/// A PHY together with its coding scheme (for LE Coded), which determines how long a packet takes.
///
/// Core 6.0, Vol 6, Part B, 2.1 and 2.2.
package enum AirPHY: UInt8, Sendable {
    case oneMegabit = 1
    case twoMegabit = 2
    /// Coded PHY at 125 kb/s.
    case codedEight = 3
    /// Coded PHY at 500 kb/s.
    case codedTwo = 4

    /// Creates a PHY from its HCI number: 1 for 1M, 2 for 2M, 3 for Coded; returns `nil` for any other number.
    ///
    /// `codedTwo` selects 500 kb/s instead of 125 kb/s for Coded.
    init?(phy: UInt8, codedTwo: Bool = false) {
        switch phy {
        case 1: self = .oneMegabit
        case 2: self = .twoMegabit
        case 3: self = codedTwo ? .codedTwo : .codedEight
        default: return nil
        }
    }

    /// The HCI number of the PHY.
    package var number: UInt8 { self == .codedTwo ? 3 : rawValue }

    /// The bit that stands for the PHY in a link layer PHY set.
    var bit: UInt8 { 1 << (number - 1) }

    /// Returns the duration in nanoseconds of a packet with `length` octets of payload, from preamble to CRC.
    func airTime(_ length: Int) -> Int64 {
        let length = Int64(length)
        switch self {
        case .oneMegabit: return (10 + length) * 8_000
        case .twoMegabit: return (11 + length) * 4_000
        case .codedEight: return (720 + length * 64) * 1_000
        case .codedTwo: return (462 + length * 16) * 1_000
        }
    }

    /// Returns the maximum payload, in octets, of a packet that takes at most `nanoseconds`; at least 27.
    ///
    /// The packet also contains a message integrity code of `codeLength` octets.
    func longest(within nanoseconds: Int64, _ codeLength: Int) -> Int {
        let spare = nanoseconds - airTime(codeLength)
        let octet = airTime(1) - airTime(0)
        return Int(max(27, spare / octet))
    }
}

/// Fixed times of the link layer, in nanoseconds.
///
/// Core 6.0, Vol 6, Part B, 4.1 and 4.2.
enum Spacing {
    /// T_IFS, the time between two consecutive packets of an exchange: 150 µs.
    static let interFrame: Int64 = 150_000
    /// T_MAFS, the minimum time between a packet and the auxiliary packet that it points to: 300 µs.
    static let auxiliary: Int64 = 300_000
    /// The unit of connection intervals: 1.25 ms.
    static let slot: Int64 = 1_250_000
    /// The unit of advertising and scan intervals: 625 µs.
    static let unit: Int64 = 625_000
}
