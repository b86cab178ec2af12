import BLEWire

/// What somebody said.
struct ChatLine: Equatable {
    /// Who: 0 is the room.
    let speaker: UInt8
    /// How much that speaker had said before.
    let number: UInt32

    init(speaker: UInt8, number: UInt32) {
        self.speaker = speaker
        self.number = number
    }

    init?(_ octets: [UInt8]) {
        guard octets.count == 20 else { return nil }
        speaker = octets[0]
        number = octets[1...4].reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// 20 octets, as much as one notification holds in any case.
    var octets: [UInt8] { [speaker] + number.littleEndianOctets + Array("says hello, all".utf8) }
}
