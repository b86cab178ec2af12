import Testing

@testable import BLERuntime

@Suite("Unsupported captures")
struct CaptureKindTests {
    /// The head of classic pcap, least significant octet first.
    static func pcap(_ link: UInt8, magic: [UInt8] = [0xD4, 0xC3, 0xB2, 0xA1]) -> [UInt8] {
        magic + [2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, link, 0, 0, 0]
    }

    static let kinds: [(octets: [UInt8], name: String)] = [
        (pcap(201), "it is classic pcap with link type 201 (Bluetooth HCI (H4 with directions)); convert"),
        (pcap(201, magic: [0x4D, 0x3C, 0xB2, 0xA1]), "it is classic pcap with link type 201"),
        ([0xA1, 0xB2, 0xC3, 0xD4] + CaptureReaderTests.big(0, 16) + [0, 0, 0, 187], "with link type 187"),
        (pcap(251), "link type 251 (Bluetooth LE on the air), which is not HCI"),
        (pcap(99), "classic pcap with link type 99, which is not HCI"),
        ([0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0], "it is classic pcap; convert it with “editcap"),
        (CaptureReaderTests.snoop(1_003, []), "btsnoop with data link 1003 (BCSP)"),
        (CaptureReaderTests.snoop(1_004, []), "btsnoop with data link 1004 (H5, three-wire UART)"),
        (CaptureReaderTests.snoop(7, []), "btsnoop with data link 7, but only 1001, 1002 and 2001 are supported"),
        ([0x1F, 0x8B, 8, 0, 0, 0, 0, 0], "compressed with gzip"), ([0x28, 0xB5, 0x2F, 0xFD, 0, 0, 0, 0], "zstd"),
        (Array("PK\u{3}\u{4}____".utf8), "a zip archive"), (Array("snoop\0\0\0".utf8), "a Solaris snoop capture"),
        ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0], "xz"), ([0x04, 0x22, 0x4D, 0x18], "LZ4"), (Array("BZh9".utf8), "bzip2"),
    ]

    @Test("An unsupported capture is refused with its kind, however its bytes are split", arguments: kinds.indices)
    func naming(index: Int) {
        let (octets, name) = Self.kinds[index]
        for pieces in [1, 5, .max] {
            let failure = CaptureReaderTests.read(octets, pieces: pieces).failure ?? "nothing is wrong"
            #expect(failure.contains(name), "\(failure)")
        }
    }

    @Test("Link types of skipped packets are listed once each")
    func foreign() {
        let section = CaptureReaderTests.bigSection, packet = CaptureReaderTests.bigPacket([1], at: 1)
        var reader = CaptureReader()
        reader.append(section + CaptureReaderTests.interface(251) + packet + packet)
        reader.append(section + CaptureReaderTests.interface(4_000) + packet)
        while (try? reader.next()) != nil {}
        #expect(reader.skippedPackets == 3)
        #expect(reader.skippedLinkNames == ["link type 251 (Bluetooth LE on the air)", "link type 4000"])
    }
}
