import BLEWire
import Testing

@testable import BLERuntime

@Suite("Capture reader")
struct CaptureReaderTests {
    static let reset: [UInt8] = [0x01, 0x03, 0x0C, 0x00]
    static let answer: [UInt8] = [0x04, 0x0E, 0x04, 0x01, 0x03, 0x0C, 0x00]
    static let source = PacketSource(program: "app 7", machine: "hci0")
    static let time: Int64 = 1_795_000_000_123_456_000

    static func packet(
        _ bytes: [UInt8],
        _ direction: PacketRecord.Direction,
        of source: PacketSource = source,
        at time: Int64 = time
    ) -> CaptureReader.Item {
        .packet(PacketRecord(source: source, direction: direction, time: Instant(nanoseconds: time), bytes: bytes))
    }

    /// Two packets, with comments, a statement and a loss where the format has them.
    static func capture(_ format: CaptureFormat) -> [UInt8] {
        format.header + format.introduction(of: source)
            + format.record(reset, .toController, of: 0, at: time, comments: ["asks", "hears"])
            + format.statistics(comments: ["later"], lost: 5, of: 0, at: time)
            + format.statistics(comments: [], lost: 7, of: 0, at: time)
            + format.record(answer, .toHost, of: 0, at: time + 1_000, comments: [])
    }

    static func big(_ value: UInt64, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> UInt64(8 * $0)) }
    }

    /// A block whose numbers have their most significant octet first.
    static func block(_ type: UInt64, _ body: [UInt8]) -> [UInt8] {
        big(type, 4) + big(UInt64(body.count + 12), 4) + body + big(UInt64(body.count + 12), 4)
    }

    static let bigSection = block(0x0A0D_0D0A, [0x1A, 0x2B, 0x3C, 0x4D, 0, 1, 0, 0] + big(.max, 8))

    static func interface(_ link: UInt64, _ options: [UInt8] = []) -> [UInt8] {
        block(1, big(link, 2) + [0, 0, 0, 0, 0, 0] + options)
    }

    static func bigPacket(_ data: [UInt8], at count: UInt64) -> [UInt8] {
        let length = big(UInt64(data.count), 4)
        return block(
            6,
            big(0, 4) + big(count, 8) + length + length + data + Array(repeating: 0, count: -data.count & 3)
        )
    }

    static func snoop(_ link: UInt64, _ records: [UInt8]) -> [UInt8] {
        Array("btsnoop\0".utf8) + big(1, 4) + big(link, 4) + records
    }

    static func record(_ data: [UInt8], flags: UInt64, drops: UInt64 = 0) -> [UInt8] {
        let length = big(UInt64(data.count), 4)
        return length + length + big(flags, 4) + big(drops, 4) + big(0x00DC_DDB3_0F2F_8001, 8) + data
    }

    /// All items of a capture that comes in pieces of so many octets, and what is wrong with it, if anything is.
    static func read(_ octets: [UInt8], pieces: Int = .max) -> (items: [CaptureReader.Item], failure: String?) {
        var reader = CaptureReader(), items: [CaptureReader.Item] = [], rest = octets[...]
        do throws(CaptureReader.Failure) {
            repeat {
                reader.append(rest.prefix(pieces))
                rest = rest.dropFirst(pieces)
                while let item = try reader.next() { items.append(item) }
            } while !rest.isEmpty
            try reader.finish()
            return (items, nil)
        } catch {
            return (items, error.description)
        }
    }

    @Test("A pcapng capture that was written is read back, in pieces of any size", arguments: [1, 3, 7, 64, .max])
    func pcapng(pieces: Int) {
        let instant = Instant(nanoseconds: Self.time)
        let (items, failure) = Self.read(Self.capture(.pcapng), pieces: pieces)
        #expect(failure == nil)
        #expect(
            items == [
                .comment("asks", of: Self.source, at: instant), .comment("hears", of: Self.source, at: instant),
                Self.packet(Self.reset, .toController), .comment("later", of: Self.source, at: instant),
                .lost(5, of: Self.source), .lost(2, of: Self.source),
                Self.packet(Self.answer, .toHost, at: Self.time + 1_000),
            ]
        )
    }

    @Test("A btsnoop capture that was written is read back, in pieces of any size", arguments: [1, 3, 7, 64, .max])
    func btsnoop(pieces: Int) {
        let nobody = PacketSource(machine: ""), (items, failure) = Self.read(Self.capture(.btsnoop), pieces: pieces)
        #expect(failure == nil)
        #expect(
            items == [
                Self.packet(Self.reset, .toController, of: nobody),
                Self.packet(Self.answer, .toHost, of: nobody, at: Self.time + 1_000),
            ]
        )
    }

    @Test(
        "A truncated capture gives all complete packets, and an error that it is truncated",
        arguments: ["pcapng", "btsnoop"]
    )
    func truncation(name: String) throws {
        let format = try #require(CaptureFormat(path: "a." + name))
        let whole = Self.capture(format), all = Self.read(whole).items
        let introduced = format.header + format.introduction(of: Self.source)
        var ends = 0
        for count in whole.indices {
            let (items, failure) = Self.read(Array(whole[..<count]))
            #expect(items == Array(all.prefix(items.count)))
            if failure == nil { ends += 1 }
            #expect(failure == nil || items.count < all.count)
        }
        // Between records a capture may end.
        #expect(ends == (format == .pcapng ? 5 : 2))
        #expect(Self.read(introduced).items == [] && Self.read(introduced).failure == nil)
        #expect(Self.read([]).failure == "it is empty")
    }

    @Test("Files of btmon are read, with the packets of adapters and the kernel's notes")
    func monitor() {
        let records: [([UInt8], UInt64)] = [
            ([0, 1, 2, 3], 0x0001_0000), (Array(Self.reset.dropFirst()), 0x0001_0002),
            (Array(Self.answer.dropFirst()), 0x0001_0003), ([0x40, 0, 0, 0], 4), ([0x40, 0x20, 0, 0], 5), ([9], 11),
            (Array("note\0".utf8), 0xFFFF_000C), ([6, 3] + Array("ab\0said\0".utf8), 0xFFFF_000D), ([], 0xFFFF_000D),
            ([1], 1), ([], 8), ([], 9), ([7], 18), ([7], 19), ([7], 6), ([7], 7), ([7], 999),
        ]
        let (items, failure) = Self.read(Self.snoop(2_001, records.flatMap { Self.record($0, flags: $1) }))
        let one = PacketSource(machine: "hci1"), zero = PacketSource(machine: "hci0"), none = PacketSource(machine: "")
        let time = Instant(nanoseconds: 1_000)
        #expect(failure == nil)
        #expect(
            items == [
                .comment("the adapter was added", of: one, at: time),
                Self.packet(Self.reset, .toController, of: one, at: 1_000),
                Self.packet(Self.answer, .toHost, of: one, at: 1_000),
                Self.packet([2, 0x40, 0, 0, 0], .toController, of: zero, at: 1_000),
                Self.packet([2, 0x40, 0x20, 0, 0], .toHost, of: zero, at: 1_000),
                .comment("note", of: none, at: time), .comment("said", of: none, at: time),
                .comment("", of: none, at: time), .comment("the adapter was removed", of: zero, at: time),
                .comment("the adapter was opened", of: zero, at: time),
                .comment("the adapter was closed", of: zero, at: time),
                Self.packet([5, 7], .toController, of: zero, at: 1_000),
                Self.packet([5, 7], .toHost, of: zero, at: 1_000),
                Self.packet([3, 7], .toController, of: zero, at: 1_000),
                Self.packet([3, 7], .toHost, of: zero, at: 1_000),
            ]
        )
    }

    @Test("Packets without an indicator get it from their flags, and dropped packets are reported")
    func unframed() {
        let records = [([1], 2, 0), ([2], 3, 4), ([3], 0, 4), ([4], 1, 9)] as [([UInt8], UInt64, UInt64)]
        let octets = records.flatMap { Self.record($0, flags: $1, drops: $2) }
        let nobody = PacketSource(machine: "")
        #expect(
            Self.read(Self.snoop(1_001, octets)).items == [
                Self.packet([1, 1], .toController, of: nobody, at: 1_000), .lost(4, of: nobody),
                Self.packet([4, 2], .toHost, of: nobody, at: 1_000),
                Self.packet([2, 3], .toController, of: nobody, at: 1_000), .lost(5, of: nobody),
                Self.packet([2, 4], .toHost, of: nobody, at: 1_000),
            ]
        )
    }

    @Test("Sections in both byte orders can follow each other, with other kinds of blocks between them")
    func sections() {
        let foreign = Self.block(0x0BAD, [1, 2, 3, 4]), other = Self.interface(1)
        let octets =
            Self.capture(.pcapng) + Self.bigSection + foreign + Self.interface(187)
            + Self.bigPacket(Self.reset, at: 5) + Self.bigPacket(Self.answer, at: 6)
            + Self.bigPacket([2, 0x40, 0, 0, 0], at: 6) + Self.bigPacket([2, 0x40, 0x20, 0, 0], at: 6)
            + Self.block(3, Self.big(4, 4) + Self.reset) + Self.bigSection + other + Self.bigPacket([1, 2], at: 1)
        let nobody = PacketSource(machine: ""), (items, failure) = Self.read(octets)
        #expect(failure == nil)
        #expect(
            items.dropFirst(7) == [
                Self.packet(Self.reset, .toController, of: nobody, at: 5_000),
                Self.packet(Self.answer, .toHost, of: nobody, at: 6_000),
                Self.packet([2, 0x40, 0, 0, 0], .toController, of: nobody, at: 6_000),
                Self.packet([2, 0x40, 0x20, 0, 0], .toHost, of: nobody, at: 6_000),
                Self.packet(Self.reset, .toController, of: nobody, at: 0),
            ]
        )
        var reader = CaptureReader()
        reader.append(octets)
        while (try? reader.next()) != nil {}
        #expect(reader.skippedPackets == 1)
    }

    @Test("Monitor records of the kernel are also read from pcapng")
    func monitorBlocks() {
        let command = Self.bigPacket([0, 2, 0, 2] + Self.reset.dropFirst(), at: 5)
        let octets = Self.bigSection + Self.interface(254) + command + Self.bigPacket([0, 2], at: 5)
        let items = Self.read(octets).items
        #expect(items == [Self.packet(Self.reset, .toController, of: PacketSource(machine: "hci2"), at: 5_000)])
    }

    @Test(
        "Times are in the units of their interface",
        arguments: [
            ([0, 9, 0, 1, 0, 0, 0, 0], 5, 5_000_000_000), ([0, 9, 0, 1, 12, 0, 0, 0], 5_000, 5),
            ([0, 9, 0, 1, 0x80, 0, 0, 0], 2, 2_000_000_000), ([0, 9, 0, 1, 0x8A, 0, 0, 0], 512, 500_000_000),
            ([0, 9, 0, 1, 0xBF, 0, 0, 0], 1 << 62, 500_000_000), ([0, 9, 0, 1, 0xFF, 0, 0, 0], 9, 0),
            ([0, 9, 0, 1, 19, 0, 0, 0], .max, 1_844_674_407), ([0, 9, 0, 1, 99, 0, 0, 0], 9, 0),
            ([0, 9, 0, 1, 0, 0, 0, 0], .max, 0), ([0, 14, 0, 8, 0, 0, 0, 0, 0, 0, 0, 3], 1, 3_000_001_000),
            ([0, 14, 0, 8, 0x7F, 255, 255, 255, 255, 255, 255, 255], 1, 0),
        ] as [([UInt8], UInt64, Int64)]
    )
    func units(options: [UInt8], count: UInt64, nanoseconds: Int64) {
        let octets = Self.bigSection + Self.interface(187, options) + Self.bigPacket(Self.reset, at: count)
        let expected = Self.packet(Self.reset, .toController, of: PacketSource(machine: ""), at: nanoseconds)
        #expect(Self.read(octets) == ([expected], nil))
    }

    @Test(
        "A file that is not a capture is refused, with the position and the reason",
        arguments: [
            (Array("{\"a\": 1}".utf8), "it is neither pcapng nor btsnoop"),
            (Array("btsnoop\0".utf8) + big(2, 4) + big(1_002, 4), "version 2"),
            (
                snoop(1_002, big(0, 4) + big(0x1000_0000, 4) + big(0, 16)),
                "invalid length 268435456, at octet 16"
            ),
            ([0x0A, 0x0D, 0x0D, 0x0A, 28, 0, 0, 0, 1, 2, 3, 4], "invalid byte-order magic"),
            (bigSection + big(6, 4) + big(11, 4), "invalid length 11, at octet 28"),
            (bigSection + big(6, 4) + big(13, 4), "invalid length 13"),
            (bigSection + big(6, 4) + big(1 << 24, 4), "too long"),
            (bigSection + big(99, 4) + big(1 << 24, 4), "it ends inside a block"),
            (bigSection + big(6, 4) + big(12, 4) + big(16, 4), "two lengths differ: 12 and 16"),
            (bigSection + block(6, big(0, 20)), "interface 0, which was not described"),
            (bigSection + block(3, big(0, 4)), "interface 0, which was not described"),
            (bigSection + interface(187) + block(6, big(0, 16)), "a packet is truncated"),
            (bigSection + interface(187) + block(6, big(0, 12) + big(9, 4) + big(9, 4)), "a packet is truncated"),
            (bigSection + interface(187) + block(5, big(0, 4)), "a block of statistics is truncated"),
            (bigSection + block(1, big(0, 4)), "an interface is truncated"),
            (bigSection + (0...1_024).flatMap { _ in interface(187) }, "more than 1024 interfaces"),
        ] as [([UInt8], String)]
    )
    func faults(octets: [UInt8], reason: String) {
        for pieces in [5, Int.max] {
            let failure = Self.read(octets, pieces: pieces).failure ?? "nothing is wrong"
            #expect(failure.contains(reason), "\(failure)")
        }
    }

    @Test("A reader that has failed keeps failing")
    func broken() {
        var reader = CaptureReader()
        reader.append(Array("nonsense".utf8))
        for _ in 0..<3 { #expect(throws: CaptureReader.Failure.self) { try reader.next() } }
        #expect(throws: CaptureReader.Failure.self) { try reader.finish() }
    }

    @Test("Reading a capture ends, however it was damaged", arguments: UInt64(0)..<16)
    func accidents(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let records = [(Self.reset, 0x0001_0002), ([6, 3, 1, 2], 0xFFFF_000D)] as [([UInt8], UInt64)]
        let wholes = [
            Self.capture(.pcapng), Self.capture(.btsnoop), PacketLoggerTests.capture(isBigEndian: true),
            PacketLoggerTests.capture(isBigEndian: false),
            Self.snoop(2_001, records.flatMap { Self.record($0, flags: $1) }),
            Self.bigSection + Self.interface(254, [0, 9, 0, 1, 12, 0, 0, 0])
                + Self.bigPacket([0, 2, 0, 2, 1], at: .max),
        ]
        for whole in wholes {
            for _ in 0..<500 {
                var octets = whole
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    let place = Int.random(in: octets.indices, using: &random)
                    octets[place] = .random(in: .min ... .max, using: &random)
                }
                let (items, _) = Self.read(octets, pieces: Int.random(in: 1...200, using: &random))
                #expect(items.count <= whole.count)
            }
        }
    }
}
