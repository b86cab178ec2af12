import BLEWire

/// A reader of the records of Apple's PacketLogger, whose files end in `.pklg`.
///
/// A record has a length, a time, a type and, depending on the type, a packet or a text. There is no header, and the
/// numbers are big-endian or little-endian, so a file is recognized by its first record. Records of types that are not
/// needed are skipped.
struct PacketLoggerRecords: Sendable {
    /// The number of octets between a record's length field and its packet: seconds, microseconds and type.
    ///
    /// The length field counts these octets and the packet.
    private static let headSize = 9
    /// The number of octets at the beginning of a file that are needed to recognize it.
    private static let recognizedSize = 4 + headSize
    /// The maximum length of the first record.
    ///
    /// It is smaller than the maximum for later records, so that fewer files of other kinds are mistaken for
    /// PacketLogger's.
    private static let mostFirst: UInt32 = 0x1_0000

    /// The types of records that PacketLogger can write first.
    private static let types: Set<UInt8> = [
        0, 1, 2, 3, 8, 9, 10, 11, 0xF7, 0xF8, 0xF9, 0xFA, 0xFB, 0xFC, 0xFD, 0xFE, 0xFF,
    ]

    private let isBigEndian: Bool

    /// Creates a reader of a file that begins with these octets; returns `nil` if it is not a PacketLogger file.
    init?(beginning: ArraySlice<UInt8>) {
        let order = [true, false].first { isBigEndian in
            var cursor = OctetCursor(beginning, isBigEndian: isBigEndian)
            guard Self.length(beginning, isBigEndian: isBigEndian) != nil, cursor.number(8) != nil,
                let microseconds = cursor.number(4), microseconds < 1_000_000, let type = cursor.number(1)
            else { return false }
            return Self.types.contains(UInt8(truncatingIfNeeded: type))
        }
        guard let order else { return nil }
        isBigEndian = order
    }

    /// Returns true if more octets are needed to recognize a file that begins with these octets.
    static func needsMore(than beginning: ArraySlice<UInt8>) -> Bool {
        beginning.count < recognizedSize
            && (beginning.count < 4 || [true, false].contains { length(beginning, isBigEndian: $0) != nil })
    }

    /// Returns the length of the first record in a file that begins with these octets; `nil` if the length is
    /// incomplete or out of range.
    private static func length(_ beginning: ArraySlice<UInt8>, isBigEndian: Bool) -> UInt32? {
        var cursor = OctetCursor(beginning, isBigEndian: isBigEndian)
        guard let length = cursor.word(), UInt32(headSize)...mostFirst ~= length else { return nil }
        return length
    }

    /// Reads the next record from the beginning of `octets`.
    func step(_ octets: ArraySlice<UInt8>) throws(CaptureReader.Fault) -> CaptureReader.Step {
        var cursor = OctetCursor(octets, isBigEndian: isBigEndian)
        guard let length = cursor.word() else { return .more }
        guard length >= Self.headSize, length <= CaptureReader.mostRecord else {
            throw CaptureReader.Fault("a record has the invalid length \(length)")
        }
        guard let seconds = cursor.word(), let microseconds = cursor.word(), let type = cursor.number(1),
            let data = cursor.bytes(Int(length) - Self.headSize)
        else { return .more }
        let time = Instant(nanoseconds: Int64(seconds) * 1_000_000_000 + Int64(microseconds) * 1_000)
        return .took(4 + Int(length), Self.item(data, UInt8(truncatingIfNeeded: type), at: time).map { [$0] } ?? [])
    }

    private static func item(_ data: ArraySlice<UInt8>, _ type: UInt8, at time: Instant) -> CaptureReader.Item? {
        let source = PacketSource(machine: "")
        func packet(_ type: HCI.PacketType, _ direction: PacketRecord.Direction) -> CaptureReader.Item {
            .packet(.init(source: source, direction: direction, time: time, bytes: [type.wire] + data))
        }
        switch type {
        case 0x00: return packet(.command, .toController)
        case 0x01: return packet(.event, .toHost)
        case 0x02: return packet(.acl, .toController)
        case 0x03: return packet(.acl, .toHost)
        case 0x08: return packet(.synchronous, .toController)
        case 0x09: return packet(.synchronous, .toHost)
        // System messages, errors, notes by the user, and descriptions of the controller.
        case 0xF7, 0xF8, 0xFA...0xFC, 0xFE: return .comment(MonitorOpcode.text(data), of: source, at: time)
        default: return nil
        }
    }
}
