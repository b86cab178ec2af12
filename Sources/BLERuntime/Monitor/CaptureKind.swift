/// The kinds of captures that cannot be read, recognized by the first octets of a file so that messages can name them.
enum CaptureKind {
    private static let converting = "convert it with “editcap -F pcapng IN OUT”"

    /// The magic numbers at the beginning of files, each with a description of the file and advice.
    private static let magics: [(octets: [UInt8], name: String)] = [
        ([0x1F, 0x8B], "it is compressed with gzip; decompress it first (“gunzip”)"),
        ([0x28, 0xB5, 0x2F, 0xFD], "it is compressed with zstd; decompress it first (“unzstd”)"),
        ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0], "it is compressed with xz; decompress it first (“unxz”)"),
        ([0x04, 0x22, 0x4D, 0x18], "it is compressed with LZ4; decompress it first (“unlz4”)"),
        (Array("BZh".utf8), "it is compressed with bzip2; decompress it first (“bunzip2”)"),
        (Array("PK\u{3}\u{4}".utf8), "it is a zip archive; extract the capture from it first"),
        (Array("snoop\0\0\0".utf8), "it is a Solaris snoop capture, which has network packets"),
    ]

    /// The magic numbers of classic pcap, with the byte order of each.
    private static let classic: [(octets: [UInt8], isBigEndian: Bool)] = [
        ([0xA1, 0xB2, 0xC3, 0xD4], true), ([0xD4, 0xC3, 0xB2, 0xA1], false),
        ([0xA1, 0xB2, 0x3C, 0x4D], true), ([0x4D, 0x3C, 0xB2, 0xA1], false),
        ([0xA1, 0xB2, 0xCD, 0x34], true), ([0x34, 0xCD, 0xB2, 0xA1], false),
    ]

    /// The names of btsnoop data links that cannot be read.
    static let snoopLinks: [UInt32: String] = [
        1_003: "BCSP", 1_004: "H5, three-wire UART", 2_002: "simulator",
    ]

    /// The names of pcap link types: those that occur in Bluetooth captures, and the most common ones for networks.
    private static let links: [UInt64: String] = [
        1: "Ethernet", 105: "Wi-Fi", 113: "Linux cooked capture", 127: "Wi-Fi with radiotap", 161: "BlueZ 4 packets",
        186: "USB", 187: "Bluetooth HCI (H4)", 189: "Linux USB", 195: "IEEE 802.15.4",
        201: "Bluetooth HCI (H4 with directions)", 220: "Linux USB", 245: "NFC", 249: "USBPcap",
        251: "Bluetooth LE on the air", 254: "Linux Bluetooth monitor", 255: "Bluetooth BR/EDR on the air",
        256: "Bluetooth LE on the air", 266: "macOS USB", 272: "nRF Sniffer for Bluetooth LE",
    ]

    /// Returns a name for a pcap link type, for messages.
    static func name(ofLink number: UInt64) -> String {
        "link type \(number)" + (links[number].map { " (\($0))" } ?? "")
    }

    /// Returns whether more octets of the file are needed to recognize its kind.
    static func needsMore(than beginning: ArraySlice<UInt8>) -> Bool {
        func mayBe(_ octets: [UInt8], known count: Int) -> Bool {
            beginning.count < count && zip(beginning, octets).allSatisfy(==)
        }
        if magics.contains(where: { mayBe($0.octets, known: $0.octets.count) }) { return true }
        if classic.contains(where: { mayBe($0.octets, known: 24) }) { return true }
        return PacketLoggerRecords.needsMore(than: beginning)
    }

    /// Returns a description of a file that begins with these octets and cannot be read; `nil` if its kind is unknown.
    static func description(of beginning: ArraySlice<UInt8>) -> String? {
        if let magic = magics.first(where: { beginning.starts(with: $0.octets) }) { return magic.name }
        if let magic = classic.first(where: { beginning.starts(with: $0.octets) }) {
            var cursor = OctetCursor(beginning.dropFirst(20), isBigEndian: magic.isBigEndian)
            // The upper four bits of the field describe checksums.
            guard let field = cursor.number(4) else { return "it is classic pcap; \(converting)" }
            let link = field & 0x0FFF_FFFF, name = name(ofLink: link)
            return [187, 201, 254].contains(link)
                ? "it is classic pcap with \(name); \(converting)"
                : "it is classic pcap with \(name), which is not HCI"
        }
        return nil
    }
}
