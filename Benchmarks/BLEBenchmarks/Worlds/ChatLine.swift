import BLEWire

/// A line of the chat.
struct ChatLine: Equatable {
    /// The number of the speaker; 0 is the room.
    let speaker: UInt8
    /// The number of earlier lines of this speaker.
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

    /// The line as 20 octets, which fit into one notification with any MTU.
    var octets: [UInt8] { [speaker] + number.littleEndianOctets + Array("says hello, all".utf8) }
}
