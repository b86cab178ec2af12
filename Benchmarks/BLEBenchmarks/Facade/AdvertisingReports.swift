import BLEWire

/// Reports of 256 devices in turn, some at once, whose advertisements call for no scan response.
struct AdvertisingReports {
    /// How many devices there are, as many as an octet tells apart.
    static let devices = 256
    private static let name = Array("bench-adv0".utf8)
    private static let length = 46

    /// The packets of one turn, of which little is written anew for the next.
    private var packets: [UInt8]
    private let atOnce: Int
    private var count: UInt32 = 0

    init(atOnce: Int) {
        self.atOnce = atOnce
        let data: [UInt8] =
            [2, 1, 6, 3, 3, 0x0F, 0x18, 11, 9] + Self.name + [11, 0xFF, 0x4C, 0, 1, 2, 3, 4, 0, 0, 0, 0]
        let report: [UInt8] = [0x04, 0x3E, 43, 0x02, 1, 0x03, 0x01, 0, 0, 0, 0, 4, 0xC5, 31] + data + [0xC4]
        precondition(report.count == Self.length, "31 octets of data")
        packets = Array([[UInt8]](repeating: report, count: atOnce).joined())
    }

    /// The next ones, with 31 octets of data each: those of the last time, or such as never came.
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
