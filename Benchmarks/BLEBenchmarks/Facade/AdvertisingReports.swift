import BLEWire

/// Advertising reports from 256 devices in turn, several in one batch.
///
/// The advertisements are not scannable.
struct AdvertisingReports {
    /// The number of devices.
    ///
    /// One octet distinguishes them.
    static let devices = 256
    private static let name = Array("bench-adv0".utf8)
    private static let length = 46

    /// The packets of one batch.
    ///
    /// Only a few octets change for the next batch.
    private var packets: [UInt8]
    private let atOnce: Int
    private var count: UInt32 = 0

    init(atOnce: Int) {
        self.atOnce = atOnce
        let data: [UInt8] =
            [2, 1, 6, 3, 3, 0x0F, 0x18, 11, 9] + Self.name + [11, 0xFF, 0x4C, 0, 1, 2, 3, 4, 0, 0, 0, 0]
        let report: [UInt8] = [0x04, 0x3E, 43, 0x02, 1, 0x03, 0x01, 0, 0, 0, 0, 4, 0xC5, 31] + data + [0xC4]
        precondition(report.count == Self.length, "the report must contain 31 octets of data")
        packets = Array([[UInt8]](repeating: report, count: atOnce).joined())
    }

    /// Returns the packets of the next batch, with 31 octets of data each.
    ///
    /// If `isNew`, each packet has data that has not been used before.
    mutating func next(isNew: Bool) -> [UInt8] {
        for index in 0..<atOnce {
            let start = index * Self.length
            packets[start + 7] = UInt8(truncatingIfNeeded: count)
            if isNew {
                for octet in 0..<4 { packets[start + 41 + octet] = UInt8(truncatingIfNeeded: count >> (8 * octet)) }
            }
            count &+= 1
        }
        return packets
    }
}
