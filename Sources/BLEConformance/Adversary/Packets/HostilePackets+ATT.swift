import BLEWire

extension HostilePacket {
    /// ATT packets for a server with the attributes of ``AttributeVictim``, or for its client.
    static let attributePackets = requests + malformedRequests + commands + answers + values
    /// The packets of ``attributePackets`` that are not responses to a client's requests.
    static let serverPackets = requests + malformedRequests + commands + values

    private static let requests: [Self] = [
        .init("02 1700", .answer), .init("02 0000", .answer),
        .init("04 0100 ffff", .answer), .init("04 0000 ffff", .refusal(0x01)),
        .init("06 0100 ffff 0028 1518", .answer), .init("06 0100 ffff 0028", .answer),
        .init("08 0100 ffff 0328", .answer), .init("08 0100 ffff 003d", .answer),
        .init("08 0100 ffff ff2a", .refusal(0x0A)), .init("0a 0300", .answer), .init("0a 0500", .answer),
        .init("0a 0000", .refusal(0x01)), .init("0c 0500 0000", .answer),
        .init("0c 0500 ffff", .answer), .init("0e 0300 0500", .answer),
        .init("10 0100 ffff 0028", .answer), .init("10 0100 ffff 0328", .refusal(0x10)),
        .init("12 0500 aabb", .answer), .init("12 0300 aa", .refusal(0x03)), .init("12 0600 0100", .answer),
        .init("16 0500 0000 ccdd", .answer), .init("16 0500 0100 ee", .answer), .init("16 0500 ffff ee", .answer),
        .init("18 00", .answer), .init("18 01", .answer),
        .init("20 0300 0500", .answer),
    ]

    private static let malformedRequests: [Self] = [
        .init("", .nothing), .init("02", .refusal(0x04)),
        .init("08 0100 ffff 00", .refusal(0x04)), .init("0a", .refusal(0x04)),
        .init("0a 030000", .refusal(0x04)), .init("0e 0300", .refusal(0x04)),
        .init("16 0500 00", .refusal(0x04)), .init("18", .refusal(0x04)),
        .init("3f", .refusal(0x06)), .init("bf 00", .refusal(0x06)),
    ]

    private static let commands: [Self] = [
        .init("52 0500 11", .nothing), .init("52", .nothing),
        .init("d2 0500 11 00000000 2222222222222222", .nothing), .init("ff", .nothing),
    ]

    private static let answers: [Self] = [
        .init("01 0a 0300 0a", .nothing), .init("01 10 0100 0a", .nothing),
        .init("01 0a", .nothing), .init("03 1700", .nothing), .init("05 01 0100 0028", .nothing),
        .init("07 0100 ffff", .nothing), .init("09 07 0200 02 0300 002a", .nothing),
        .init("09 00", .nothing), .init("0b", .nothing), .init("0b 414243", .nothing),
        .init("0b 0102030405060708090a0b0c0d0e0f10111213141516", .nothing),
        .init("11 06 0100 0500 1518", .nothing), .init("11 06 0100 0500 1518 0500 0100 0018", .nothing),
        .init("11 06 0100", .nothing), .init("13", .nothing), .init("17 0300 0000 07", .nothing),
        .init("19", .nothing),
    ]

    private static let values: [Self] = [
        .init("1b 0500 77", .nothing), .init("1b 05", .nothing), .init("1d 0500 88", .confirmation),
        .init("1d 0300 0100ffff", .confirmation), .init("1d", .anything), .init("1e", .nothing),
        .init("23 0500 0100 99 0600 0000", .nothing),
    ]
}
