import BLEWire
import Testing

@testable import BLERuntime

@Suite("Captures of PacketLogger")
struct PacketLoggerTests {
    /// A record, with its time one second and five microseconds after 1970.
    static func record(_ type: UInt8, _ data: [UInt8], isBigEndian: Bool) -> [UInt8] {
        let numbers = [UInt64(data.count + 9), 1, 5].map { CaptureReaderTests.big($0, 4) }
        return numbers.flatMap { isBigEndian ? $0 : $0.reversed() } + [type] + data
    }

    /// A record of each type that is read, and of two that are not.
    static func capture(isBigEndian: Bool) -> [UInt8] {
        let records: [(UInt8, [UInt8])] = [
            (0, [3, 12, 0]), (1, [14, 4, 1, 3, 12, 0]), (2, [0x40, 0, 0, 0]), (3, [0x40, 0x20, 0, 0]), (8, [7]),
            (9, [7]), (10, [1]), (0xFC, Array("note\0".utf8)), (0xF9, [1]), (0xFB, []),
        ]
        return records.flatMap { record($0, $1, isBigEndian: isBigEndian) }
    }

    static let items: [CaptureReader.Item] = {
        let none = PacketSource(machine: ""), time: Int64 = 1_000_005_000
        func packet(_ bytes: [UInt8], _ direction: PacketRecord.Direction) -> CaptureReader.Item {
            CaptureReaderTests.packet(bytes, direction, of: none, at: time)
        }
        return [
            packet([1, 3, 12, 0], .toController), packet([4, 14, 4, 1, 3, 12, 0], .toHost),
            packet([2, 0x40, 0, 0, 0], .toController), packet([2, 0x40, 0x20, 0, 0], .toHost),
            packet([3, 7], .toController), packet([3, 7], .toHost),
            .comment("note", of: none, at: Instant(nanoseconds: time)),
            .comment("", of: none, at: Instant(nanoseconds: time)),
        ]
    }()

    @Test("Captures in both byte orders are read, in pieces of any size", arguments: [true, false])
    func reading(isBigEndian: Bool) {
        for pieces in [1, 3, 13, 64, .max] {
            let (items, failure) = CaptureReaderTests.read(Self.capture(isBigEndian: isBigEndian), pieces: pieces)
            #expect(failure == nil)
            #expect(items == Self.items)
        }
    }

    @Test("A truncated capture gives its complete records, and an error unless it ends between two records")
    func truncation() {
        let whole = Self.capture(isBigEndian: true)
        var ends = 0
        for count in 1..<whole.count {
            let (items, failure) = CaptureReaderTests.read(Array(whole[..<count]))
            #expect(items == Array(Self.items.prefix(items.count)))
            if failure == nil { ends += 1 }
        }
        #expect(ends == 9)
    }

    @Test(
        "A record with an impossible length ends the capture, with its position",
        arguments: [(8, "invalid length 8, at octet 16"), (0x10_0001, "invalid length 1048577, at octet 16")]
    )
    func faults(length: UInt64, reason: String) {
        let octets = Self.record(0, [3, 12, 0], isBigEndian: true) + CaptureReaderTests.big(length, 4)
        let (items, failure) = CaptureReaderTests.read(octets)
        #expect(items.count == 1)
        #expect(failure?.contains(reason) == true, "\(failure ?? "nothing is wrong")")
    }
}
