import BLEWire

/// A reader of the header and records of a btsnoop capture.
///
/// All numbers are big-endian.
///
/// It reads data links 1001 (HCI without indicator), 1002 (H4) and 2001 (the format of btmon).
struct SnoopRecords: Sendable {
    private static let headSize = 16
    private static let recordHeadSize = 24
    /// The number of microseconds from the year 0 to 1970.
    private static let epoch: UInt64 = 0x00DC_DDB3_0F2F_8000

    private enum Link: UInt32, Sendable {
        case unframed = 1_001
        case h4 = 1_002
        case monitor = 2_001
    }

    private var link: Link?
    private var lost: UInt32 = 0

    /// Reads the header, or the next record after it, from the beginning of `octets`.
    mutating func step(_ octets: ArraySlice<UInt8>) throws(CaptureReader.Fault) -> CaptureReader.Step {
        guard let link else { return try head(octets) }
        var cursor = OctetCursor(octets, isBigEndian: true)
        guard let original = cursor.word(), let count = cursor.word(), let flags = cursor.word(),
            let drops = cursor.word(),
            let microseconds = cursor.number(8)
        else { return .more }
        guard count <= CaptureReader.mostRecord else {
            throw CaptureReader.Fault("a record has the invalid length \(count)")
        }
        guard let data = cursor.bytes(Int(count)) else { return .more }
        let (nanoseconds, overflow) = Int64(bitPattern: microseconds &- Self.epoch).multipliedReportingOverflow(
            by: 1_000
        )
        let time = Instant(nanoseconds: overflow ? 0 : nanoseconds)
        var items: [CaptureReader.Item] = []
        if drops > lost { items.append(.lost(Int(drops - lost), of: PacketSource(machine: ""))) }
        lost = drops
        let missing = max(0, Int(original) - data.count)
        if let item = Self.item(data, missing: missing, link, flags, at: time) { items.append(item) }
        return .took(Self.recordHeadSize + Int(count), items)
    }

    private mutating func head(_ octets: ArraySlice<UInt8>) throws(CaptureReader.Fault) -> CaptureReader.Step {
        var cursor = OctetCursor(octets.dropFirst(8), isBigEndian: true)
        guard let version = cursor.word(), let number = cursor.word() else { return .more }
        guard version == 1 else {
            throw CaptureReader.Fault("it has btsnoop version \(version), but only version 1 is supported")
        }
        guard let link = Link(rawValue: number) else {
            let kind = CaptureKind.snoopLinks[number].map { " (\($0))" } ?? ""
            throw CaptureReader.Fault(
                "it is btsnoop with data link \(number)\(kind), but only 1001, 1002 and 2001 are supported"
            )
        }
        self.link = link
        return .took(Self.headSize, [])
    }

    private static func item(
        _ data: ArraySlice<UInt8>,
        missing: Int,
        _ link: Link,
        _ flags: UInt32,
        at time: Instant
    ) -> CaptureReader.Item? {
        let direction: PacketRecord.Direction = flags & 1 == 1 ? .toHost : .toController
        let source = PacketSource(machine: "")
        switch link {
        case .monitor:
            return MonitorOpcode.item(
                UInt16(truncatingIfNeeded: flags),
                of: UInt16(truncatingIfNeeded: flags >> 16),
                data,
                missing: missing,
                at: time
            )
        case .h4:
            let bytes = Array(data)
            return .packet(.init(source: source, direction: direction, time: time, bytes: bytes, missing: missing))
        case .unframed:
            let type: HCI.PacketType = flags & 2 == 0 ? .acl : direction == .toHost ? .event : .command
            let bytes = [type.wire] + data
            return .packet(.init(source: source, direction: direction, time: time, bytes: bytes, missing: missing))
        }
    }
}

/// The opcodes of the Linux kernel's monitor format.
///
/// BlueZ, doc/btsnoop.txt.
enum MonitorOpcode {
    /// Returns the item in a record about the adapter `index`; `nil` if records with this opcode are not needed.
    ///
    /// `missing` is the number of octets by which `data` is shorter than the original packet.
    static func item(
        _ opcode: UInt16,
        of index: UInt16,
        _ data: ArraySlice<UInt8>,
        missing: Int,
        at time: Instant
    ) -> CaptureReader.Item? {
        let source = PacketSource(machine: index == .max ? "" : "hci\(index)")
        func packet(_ type: HCI.PacketType, _ direction: PacketRecord.Direction) -> CaptureReader.Item {
            let bytes = [type.wire] + data
            return .packet(.init(source: source, direction: direction, time: time, bytes: bytes, missing: missing))
        }
        func comment(_ text: String) -> CaptureReader.Item { .comment(text, of: source, at: time) }
        switch opcode {
        case 0: return comment("the adapter was added")
        case 1: return comment("the adapter was removed")
        case 2: return packet(.command, .toController)
        case 3: return packet(.event, .toHost)
        case 4: return packet(.acl, .toController)
        case 5: return packet(.acl, .toHost)
        case 6: return packet(.synchronous, .toController)
        case 7: return packet(.synchronous, .toHost)
        case 8: return comment("the adapter was opened")
        case 9: return comment("the adapter was closed")
        case 12: return comment(text(data))
        // The data are a priority, the length of a program's name, the name, and the text.
        case 13: return comment(text(data.dropFirst(2 + Int(data.dropFirst().first ?? 0))))
        case 18: return packet(.iso, .toController)
        case 19: return packet(.iso, .toHost)
        default: return nil
        }
    }

    /// Returns the text of a record up to its terminating zero, and at most 1024 octets of it.
    static func text(_ octets: ArraySlice<UInt8>) -> String {
        String(decoding: octets.prefix { $0 != 0 }.prefix(1_024), as: UTF8.self)
    }
}
