import BLEWire

extension HostilePacket {
    /// Packets for ``BearerScene/server``.
    static let serverBearerPackets =
        bearerRequests + bearerWrites + unansweredUnits + illFormedUnits + bearerSignals
        + bearerOpenings

    private static let bearerRequests: [Self] = [
        unit("0a1200", 0x40), unit("0a0300", 0x40), unit("0a0000", 0x40), unit("0a", 0x40),
        unit("024000", 0x40),
        unit("0403000300", 0x40), unit("080100ffff002a", 0x40), unit("0e03000300", 0x40),
        unit("2003000300", 0x41),
        unit("0c03000200", 0x41), unit("0c0300ffff", 0x41), unit("3f", 0x40), unit("bf00", 0x41),
        unit("0a1200", 0x41),
        unit("024000", 0x41), plain("0a1200"), plain("0a0300"),
    ]

    private static let bearerWrites: [Self] = [
        unit("120300aa", 0x40), unit("121200aabb", 0x40), unit("16120000000102", 0x40),
        unit("161200020003", 0x40),
        unit("1801", 0x40), unit("1800", 0x40), unit("121200cc", 0x41), unit("161200000004", 0x41),
        unit("1801", 0x41),
        plain("161200010005"), plain("1801"), plain("1800"),
    ]

    private static let unansweredUnits: [Self] = [
        unit("1e", 0x40), unit("1e", 0x41), plain("1e"), unit("520300aa", 0x40),
        unit("d21200110000000022222222222222222222", 0x41), unit("ff", 0x40), unit("0b41", 0x40),
        unit("010a03000a", 0x41), unit("1b120077", 0x40), unit("1d120088", 0x41),
    ]

    private static let illFormedUnits: [Self] = [
        plain("", 0x40), plain("05", 0x40), plain("0000", 0x40), plain("01000a12", 0x40),
        plain("410001", 0x41), plain("ffff00", 0x40), plain("3e00" + octets(62), 0x40),
        plain("4000" + octets(62), 0x41), plain("05000a12", 0x40), plain("03000a0300", 0x42),
    ]

    private static let bearerSignals: [Self] = [
        signal("16 21 0400 5000 ffff"), signal("16 21 0400 5000 0000"), signal("16 21 0400 5400 2000"),
        signal("06 21 0400 4000 5000"), signal("06 21 0400 4100 5400"), signal("06 21 0400 4000 5400"),
        signal("07 01 0400 5000 4000"), signal("19 21 0600 3f00 4000 5000"),
        signal("19 21 0600 6000 4000 5000"),
        signal("19 21 0800 8000 8000 5000 5400"), signal("19 21 0800 8000 4000 5000 7700"),
    ]

    private static let bearerOpenings: [Self] = [
        signal("17 21 1000 2700 4000 4000 2000 5500 5600 5700 5800"),
        signal("17 21 0a00 2700 4000 4000 2000 5000"),
        signal("17 21 0a00 2700 4000 4000 0000 5900"), signal("14 21 0a00 2700 5a00 4000 4000 2000"),
    ]

    /// Packets for ``BearerScene/opening`` and ``BearerScene/client``.
    static let clientBearerPackets = openingAnswers + otherAnswers + bearerAnswers + ownBearerSignals

    private static let openingAnswers: [Self] = [
        opening("0000", "6000 6100 6200"), opening("0004", "6000 6100 0000"),
        opening("0004", "6000 0000 0000"),
        opening("0000", "6000"), opening("0000", "6000 6100 6200 6300"), opening("0000", ""),
        opening("0000", "6000 6100 6200", credits: "0000"), opening("0000", "6000 6000 6100"),
        opening("0000", "3f00 6100 8000"), opening("0000", "0000 0000 0000"),
        opening("0000", "6000 6100 6200", sizes: "3f00 4000"),
        opening("0000", "6000 6100", sizes: "4000 ffff"),
        opening("0002", "0000 0000 0000"), opening("0004", "0000 0000 0000"),
        opening("0005", "0000 0000 0000"),
        opening("0006", "0000 0000 0000"), opening("0007", "0000 0000 0000"),
        opening("0008", "0000 0000 0000"),
        opening("0009", "0000 6100 0000"), opening("000a", "0000 0000 0000"),
        opening("000c", "0000 0000 0000"),
        opening("000d", "0000 0000 0000"), opening("000e", "6000 6100 6200"),
        opening("00ff", "0000 0000 0000"),
    ]

    private static let otherAnswers: [Self] = [
        signal("18 02 0e00 4000 4000 2000 0000 6000 6100 6200"),
        signal("18 09 0a00 4000 4000 2000 0000 6000"),
        signal("18 01 0600 4000 4000 2000"), signal("15 01 0a00 6000 4000 4000 2000 0000"),
        signal("1a 01 0200 0000"), signal("01 01 0200 0000"),
    ]

    private static let bearerAnswers: [Self] = [
        unit("0b41", 0x40), unit("0b42", 0x41), unit("0b43", 0x42), plain("0b44"),
        plain("0b" + octets(22)),
        plain("0d45"), unit("010a02000a", 0x40), unit("010a020005", 0x42), unit("011202000a", 0x40),
        unit("13", 0x40),
        plain("13"), unit("034000", 0x41), unit("010a", 0x40), unit("1d050088", 0x40),
        unit("1b050088", 0x41),
        unit("1e", 0x41), unit("0a0300", 0x40), plain("05", 0x41), plain("410001", 0x42),
        plain("05000b46", 0x40),
    ]

    private static let ownBearerSignals: [Self] = [
        signal("06 21 0400 4000 6000"), signal("06 21 0400 4100 6100"), signal("06 21 0400 4200 6200"),
        signal("06 21 0400 4000 6100"), signal("07 02 0400 6100 4100"), signal("16 21 0400 6000 ffff"),
        signal("16 21 0400 6100 2000"), signal("19 21 0600 8000 8000 6000"),
        signal("19 21 0800 8000 4000 6000 6100"),
        signal("19 21 0600 3f00 4000 6000"), signal("17 21 0a00 2700 4000 4000 2000 7000"),
    ]

    /// Returns a response to the host's request for bearers with signal identifier 1.
    ///
    /// All arguments are in hexadecimal. `result` has its most significant octet first. The other arguments are in the
    /// octet order of packets: `destinations` has the peer's channel identifiers, `sizes` the MTU and the MPS, and
    /// `credits` the initial credits of the host.
    private static func opening(
        _ result: String,
        _ destinations: String,
        sizes: String = "4000 4000",
        credits: String = "2000"
    ) -> Self {
        let names = destinations.filter { $0 != " " }
        let length = 8 + names.count / 2
        let wire = String(result.suffix(2)) + String(result.prefix(2))
        return signal("18 01 " + [UInt8(length)].hexadecimal + "00" + sizes + credits + wire + names)
    }

    /// Returns an ATT packet on a bearer, as an SDU with its length.
    private static func unit(_ digits: String, _ channel: UInt16) -> Self {
        plain([UInt8(digits.count / 2), 0].hexadecimal + digits, channel)
    }

    /// Returns a packet on a channel.
    private static func plain(_ digits: String, _ channel: UInt16 = ChannelIdentifier.attribute.wire)
        -> Self
    {
        .init(digits, .anything, channel: channel)
    }

    private static func signal(_ digits: String) -> Self {
        .init(digits, .anything, channel: ChannelIdentifier.leSignaling.wire)
    }

    /// Returns hexadecimal text for `count` octets.
    private static func octets(_ count: Int) -> String { String(repeating: "a5", count: count) }
}
