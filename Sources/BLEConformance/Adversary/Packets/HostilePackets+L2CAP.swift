import BLEWire

extension HostilePacket {
    /// Packets on the signalling channel and on channels, for a host that offers the PSM 0x0080.
    static let signals = parameters + openings + enhancedOpenings + closings + others + frames

    private static let parameters: [Self] = [
        signal("12 21 0800 0600 0c00 0000 c800", .answer), signal("12 21 0800 0c00 0600 0000 c800", .answer),
        signal("12 21 0800 0600 800c 0000 0a00", .answer), signal("12 21 0400 0600 0c00", .refusal(0)),
        signal("13 01 0200 0000", .nothing), signal("13 01 0200 0100", .nothing), signal("13 09 0200 0000", .nothing),
        signal("13 01 0200 0500", .nothing),
    ]

    private static let openings: [Self] = [
        signal("14 21 0a00 8000 5000 4000 4000 0500", .answer), signal("14 22 0a00 8000 5000 4000 4000 0500", .answer),
        signal("14 21 0a00 8000 5100 1700 1700 0000", .answer), signal("14 21 0a00 8000 5200 1600 1700 0100", .answer),
        signal("14 21 0a00 8000 3f00 4000 4000 0100", .answer), signal("14 21 0a00 ff00 5300 4000 4000 0100", .answer),
        signal("14 21 0a00 0000 5300 4000 4000 0100", .answer),
        signal("14 21 0900 8000 5000 4000 4000 05", .refusal(0)),
        signal("15 01 0a00 6000 4000 4000 0500 0000", .nothing),
        signal("15 01 0a00 6000 4000 4000 0500 0200", .nothing),
        signal("15 01 0a00 0000 0000 0000 0000 0000", .nothing),
        signal("15 01 0a00 6000 1000 1000 0500 0000", .nothing),
        signal("15 09 0a00 6000 4000 4000 0500 0000", .nothing), signal("15 01 0400 6000 4000", .nothing),
        signal("16 21 0400 5000 0500", .nothing), signal("16 21 0400 5000 ffff", .nothing),
        signal("16 21 0400 5000 0000", .nothing), signal("16 21 0400 7700 0100", .nothing),
        signal("16 21 0300 5000 05", .nothing),
    ]

    private static let enhancedOpenings: [Self] = [
        signal("17 21 0c00 8000 4000 4000 0500 5400 5500", .answer),
        signal("17 21 0a00 8000 4000 4000 0500 5400", .answer),
        signal("17 21 0c00 8000 4000 4000 0500 5600 5600", .answer),
        signal("17 21 0a00 8000 3f00 4000 0500 5400", .answer),
        signal("17 21 0a00 8000 4000 4000 0000 5400", .answer), signal("17 21 0800 8000 4000 4000 0500", .refusal(0)),
        signal("17 21 1400 8000 4000 4000 0500 5000 5100 5200 5300 5400 5500", .refusal(1)),
        signal("18 01 0a00 4000 4000 0500 0000 6000", .nothing), signal("18 01 0800 4000 4000 0500 0000", .nothing),
        signal("19 21 0600 4000 4000 5000", .answer), signal("19 21 0600 1000 4000 5000", .answer),
        signal("19 21 0600 4000 4000 7700", .answer), signal("19 21 0400 4000 4000", .refusal(0)),
        signal("1a 01 0200 0000", .nothing),
    ]

    private static let closings: [Self] = [
        signal("06 21 0400 4000 5000", .anything), signal("06 21 0400 4000 5100", .anything),
        signal("06 21 0400 7700 7800", .refusal(2)), signal("06 21 0200 4000", .refusal(0)),
        signal("07 01 0400 4000 6000", .nothing), signal("07 02 0400 4000 5000", .nothing),
        signal("01 01 0200 0000", .nothing), signal("01 02 0200 0000", .nothing),
        signal("01 09 0600 0200 4000 5000", .nothing),
    ]

    private static let others: [Self] = [
        signal("77 21 0000", .refusal(0)), signal("77 00 0000", .nothing), signal("08 21 0200 aabb", .refusal(0)),
        signal("0a 21 0200 0200", .refusal(0)), signal("", .nothing), signal("12", .nothing),
        signal("12 21 ffff", .refusal(0)), signal("77 21 1500 000000000000000000000000000000000000000000", .refusal(1)),
    ]

    private static let frames: [Self] = [
        .init("0300 010203", .nothing, channel: 0x0040), .init("ffff 00", .nothing, channel: 0x0040),
        .init("05", .nothing, channel: 0x0040), .init("0a00 01", .nothing, channel: 0x0040),
        .init("0300 010203", .nothing, channel: 0x0041), .init("00", .nothing, channel: 0x003F),
    ]

    /// Returns a packet on the signalling channel.
    private static func signal(_ digits: String, _ expected: ExpectedAnswer) -> Self {
        .init(digits, expected, channel: ChannelIdentifier.leSignaling.wire)
    }
}
