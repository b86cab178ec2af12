import BLEWire
import Testing

@testable import BLERuntime

@Suite("Truncated packets in captures")
struct CutPacketTests {
    private static let answer = CaptureReaderTests.answer
    private static let kept = 5

    private static func record(_ direction: PacketRecord.Direction, of source: PacketSource) -> PacketRecord {
        let time = Instant(nanoseconds: CaptureReaderTests.time), bytes = Array(answer[..<kept])
        return PacketRecord(
            source: source,
            direction: direction,
            time: time,
            bytes: bytes,
            missing: answer.count - kept
        )
    }

    /// Captures of each kind that kept so many octets of an event.
    static let captures: [(name: String, octets: [UInt8])] = [
        ("pcapng", CaptureReaderTests.bigSection + CaptureReaderTests.interface(187) + packet([], answer.count)),
        ("directions", CaptureReaderTests.bigSection + CaptureReaderTests.interface(201) + packet([0, 0, 0, 1], 11)),
        ("simple", CaptureReaderTests.bigSection + simple),
        ("btsnoop", CaptureReaderTests.snoop(1_002, snoop(from: 0, flags: 3))),
        ("unframed", CaptureReaderTests.snoop(1_001, snoop(from: 1, flags: 3))),
        ("monitor", CaptureReaderTests.snoop(2_001, snoop(from: 1, flags: 3))),
    ]

    private static func packet(_ head: [UInt8], _ original: Int) -> [UInt8] {
        let data = head + answer[..<kept], padding = [UInt8](repeating: 0, count: -data.count & 3)
        let lengths = CaptureReaderTests.big(UInt64(data.count), 4) + CaptureReaderTests.big(UInt64(original), 4)
        return CaptureReaderTests.block(6, CaptureReaderTests.big(0, 12) + lengths + data + padding)
    }

    /// A simple packet in a capture whose interface keeps so many octets of each.
    private static var simple: [UInt8] {
        let interface = CaptureReaderTests.block(1, [0, 187, 0, 0] + CaptureReaderTests.big(UInt64(kept), 4))
        let body = CaptureReaderTests.big(UInt64(answer.count), 4) + answer[..<kept] + [0, 0, 0]
        return interface + CaptureReaderTests.block(3, body)
    }

    private static func snoop(from start: Int, flags: UInt64) -> [UInt8] {
        CaptureReaderTests.big(UInt64(answer.count - start), 4) + CaptureReaderTests.big(UInt64(kept - start), 4)
            + CaptureReaderTests.big(flags, 4) + CaptureReaderTests.big(0, 12) + answer[start..<kept]
    }

    @Test("A truncated packet is read with the available octets and the number of missing ones")
    func reading() throws {
        for (name, octets) in Self.captures {
            let (items, failure) = CaptureReaderTests.read(octets)
            guard failure == nil, items.count == 1, case .packet(let record) = items[0] else {
                Issue.record("\(name): \(items) \(failure ?? "")")
                continue
            }
            #expect(record.bytes == Array(Self.answer[..<Self.kept]), "\(name)")
            #expect(record.missing == Self.answer.count - Self.kept, "\(name)")
        }
    }

    @Test("A truncated packet keeps its original length when it is written again", arguments: ["pcapng", "btsnoop"])
    func writing(name: String) throws {
        let format = try #require(CaptureFormat(path: "a." + name))
        let source = format == .pcapng ? CaptureReaderTests.source : PacketSource(machine: "")
        let record = Self.record(.toHost, of: source), time = CaptureReaderTests.time
        let octets =
            format.header + format.introduction(of: source)
            + format.record(record.bytes, .toHost, missing: record.missing, of: 0, at: time, comments: [])
        #expect(CaptureReaderTests.read(octets).items == [.packet(record)])
    }

    @Test("An original length smaller than the data or larger than any packet does no harm")
    func lengths() {
        for original in [0, UInt64(UInt32.max)] {
            let lengths = CaptureReaderTests.big(original, 4) + CaptureReaderTests.big(4, 4)
            let record = lengths + CaptureReaderTests.big(0, 16) + CaptureReaderTests.reset
            let items = CaptureReaderTests.read(CaptureReaderTests.snoop(1_002, record)).items
            guard case .packet(let packet)? = items.first else {
                Issue.record("\(items)")
                continue
            }
            #expect(packet.missing == max(0, Int(original) - 4))
            for format in [CaptureFormat.pcapng, .btsnoop] {
                let again = format.record(packet.bytes, .toHost, missing: .max, of: 0, at: 0, comments: [])
                #expect(again.firstRange(of: [0xFF, 0xFF, 0xFF, 0xFF]) != nil)
            }
        }
    }

    @Test(
        "Times before 1970 keep their fraction of a second",
        arguments: ["pcapng", "btsnoop"],
        [-332_687_153_418_000, -1_000, -6_213_559_680_000_000_000, 5_000]
    )
    func early(name: String, time: Int64) throws {
        try CaptureTests.withPath("a." + name) { path in
            let file = try CaptureFile(path: path, clock: WallClock()) { Issue.record("\($0)") }
            for time in [time, 1_000, time] {
                file.write(CaptureTests.packet(CaptureReaderTests.reset, .toHost, at: time))
            }
            let (items, failure) = CaptureReaderTests.read(try CaptureTests.octets(path))
            let times = items.compactMap { if case .packet(let record) = $0 { record.time.nanoseconds } else { nil } }
            #expect(failure == nil && times == [time, 1_000, time])
        }
    }

    @Test("Fractions of a microsecond before 1970 are rounded down, as those after it")
    func rounding() {
        for (time, microseconds) in [(-1, -1), (-1_000, -1), (-1_001, -2), (999, 0)] as [(Int64, Int64)] {
            let octets = CaptureFormat.btsnoop.record([1], .toHost, of: 0, at: time, comments: [])
            let count = octets[16..<24].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            #expect(Int64(bitPattern: count &- 0x00DC_DDB3_0F2F_8000) == microseconds)
        }
    }
}
