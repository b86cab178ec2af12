import BLEWire

extension HostilePacket {
    /// Packets for a host whose peer has opened the channels of ``ChannelVictim``.
    static let channelPackets = channelFrames + otherFrames + credits + closings + reconfigurations + furtherOpenings

    /// Packets on channel 0x0040, from which the app reads.
    private static let channelFrames: [Self] = [
        frame("0300 010203", 0x40), frame("0500 0102", 0x40), frame("030405", 0x40), frame("", 0x40),
        frame("05", 0x40), frame("0000", 0x40), frame("0100 0102", 0x40), frame("4100 01", 0x40),
        frame("ffff 00", 0x40), frame("3f00" + octets(63), 0x40), frame("3e00" + octets(62), 0x40),
        frame("4000" + octets(62), 0x40), frame("0102", 0x40),
    ]

    /// Packets on other channels: on 0x0041, from which the app does not read; on 0x0042, which is being closed; on
    /// 0x0043, which the host has opened if it is a central; and on channels that do not exist.
    private static let otherFrames: [Self] = [
        frame("0300 010203", 0x41), frame("0500 0102", 0x41), frame("030405", 0x41), frame("4100 01", 0x41),
        frame("4100" + octets(65), 0x41), frame("0300 010203", 0x42), frame("05", 0x42), frame("0300 010203", 0x43),
        frame("05", 0x43), frame("0300 010203", 0x50), frame("0300 010203", 0x7F), frame("0300 010203", 0x3F),
    ]

    private static let credits: [Self] = [
        signal("16 21 0400 5000 0100"), signal("16 21 0400 5000 ffff"), signal("16 21 0400 5000 0000"),
        signal("16 21 0400 5400 0100"), signal("16 21 0400 5400 ffff"), signal("16 21 0400 5500 0100"),
        signal("16 21 0400 5500 ffff"), signal("16 21 0400 6000 ffff"), signal("16 21 0400 4000 0100"),
        signal("16 21 0300 5000 01"),
    ]

    private static let closings: [Self] = [
        signal("06 21 0400 4000 5000"), signal("06 21 0400 4100 5400"), signal("06 21 0400 4200 5500"),
        signal("06 21 0400 4300 6000"), signal("06 21 0400 4000 5400"), signal("06 21 0400 5000 4000"),
        signal("06 21 0300 4000 50"), signal("07 01 0400 5500 4200"), signal("07 02 0400 5500 4200"),
        signal("07 01 0400 5000 4000"), signal("07 02 0400 5000 4000"), signal("01 01 0200 0000"),
        signal("01 02 0600 0200 4000 5000"),
    ]

    private static let reconfigurations: [Self] = [
        signal("19 21 0600 8000 8000 5400"), signal("19 21 0800 5000 4000 5400 5500"),
        signal("19 21 0600 5000 4000 5400"), signal("19 21 0600 4000 4800 5400"), signal("19 21 0600 3f00 4000 5400"),
        signal("19 21 0600 8000 8000 5000"), signal("19 21 0800 8000 8000 5400 7700"),
        signal("19 21 0800 8000 8000 5400 5400"), signal("19 21 0400 8000 8000"), signal("1a 02 0200 0000"),
    ]

    private static let furtherOpenings: [Self] = [
        signal("14 21 0a00 8000 5000 4000 4000 0500"), signal("14 21 0a00 8000 5100 1700 1700 0000"),
        signal("17 21 0c00 8000 5000 4800 0100 5400 5600"), signal("17 21 0a00 8000 4000 4000 ffff 5700"),
        signal("15 02 0a00 6000 4000 4000 0500 0000"), signal("18 02 0a00 4000 4000 0500 0000 6100"),
    ]

    /// Returns a packet on the signalling channel.
    ///
    /// ``ChannelOracle`` predicts the answer.
    private static func signal(_ digits: String) -> Self {
        .init(digits, .anything, channel: ChannelIdentifier.leSignaling.wire)
    }

    private static func frame(_ digits: String, _ channel: UInt16) -> Self {
        .init(digits, .anything, channel: channel)
    }

    /// Returns hexadecimal text for `count` octets.
    private static func octets(_ count: Int) -> String { String(repeating: "a5", count: count) }
}
