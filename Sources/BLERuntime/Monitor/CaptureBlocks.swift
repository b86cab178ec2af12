import BLEWire

/// A reader for the HCI packets in the blocks of a pcapng capture.
///
/// draft-ietf-opsawg-pcapng; link types 187 (H4), 201 (a direction, followed by H4) and 254 (the format of the Linux
/// kernel's monitor).
struct CaptureBlocks: Sendable {
    private enum BlockType {
        static let section: UInt32 = 0x0A0D_0D0A
        static let interface: UInt32 = 1
        static let simplePacket: UInt32 = 3
        static let statistics: UInt32 = 5
        static let packet: UInt32 = 6
    }

    private enum Link: UInt64, Sendable {
        case h4 = 187
        case h4WithDirection = 201
        case monitor = 254
    }

    private struct Interface: Sendable {
        /// The format of the packets; `nil` if they are not HCI packets.
        var link: Link?
        var linkType: UInt64 = 0
        var source = PacketSource(machine: "")
        var units = TimeUnits()
        /// The maximum number of octets that were captured of each packet; 0 for no limit.
        var snapLength: UInt64 = 0
        var lost: UInt64 = 0
    }

    /// The maximum number of interfaces per section.
    private static let mostInterfaces = 1_024
    /// The maximum length of ``skippedLinkTypes``.
    private static let mostSkippedLinkTypes = 8
    /// The maximum number of options that are read from a block.
    private static let mostOptions = 1_024

    /// The number of packets that were skipped because they cannot be read as HCI packets.
    private(set) var skippedPackets = 0
    /// The link types of skipped packets, each once, in order of first appearance.
    private(set) var skippedLinkTypes: [UInt64] = []
    private var isBigEndian = false
    private var interfaces: [Interface] = []

    /// Reads the next block from the beginning of `octets`.
    mutating func step(_ octets: ArraySlice<UInt8>) throws(CaptureReader.Fault) -> CaptureReader.Step {
        if octets.starts(with: [0x0A, 0x0D, 0x0D, 0x0A]) {
            guard octets.count >= 12 else { return .more }
            switch Array(octets.dropFirst(8).prefix(4)) {
            case [0x1A, 0x2B, 0x3C, 0x4D]: isBigEndian = true
            case [0x4D, 0x3C, 0x2B, 0x1A]: isBigEndian = false
            default: throw CaptureReader.Fault("a section has an invalid byte-order magic")
            }
        }
        var cursor = OctetCursor(octets, isBigEndian: isBigEndian)
        guard let type = cursor.word(), let length = cursor.word() else { return .more }
        guard length >= 12, length % 4 == 0 else {
            throw CaptureReader.Fault("a block has the invalid length \(length)")
        }
        let known = [
            BlockType.section, BlockType.interface, BlockType.simplePacket, BlockType.statistics, BlockType.packet,
        ]
        guard known.contains(type) else { return .skip(Int(length)) }
        guard length <= CaptureReader.mostRecord else {
            throw CaptureReader.Fault("a block of \(length) octets is too long")
        }
        guard let body = cursor.bytes(Int(length) - 12), let again = cursor.word() else { return .more }
        guard again == length else {
            throw CaptureReader.Fault("a block's two lengths differ: \(length) and \(again)")
        }
        return .took(Int(length), try items(of: type, body))
    }

    private mutating func items(
        of type: UInt32,
        _ body: ArraySlice<UInt8>
    ) throws(CaptureReader.Fault) -> [CaptureReader.Item] {
        let cursor = OctetCursor(body, isBigEndian: isBigEndian)
        switch type {
        case BlockType.section: interfaces = []
        case BlockType.interface: try introduce(cursor)
        case BlockType.packet: return try packet(cursor)
        case BlockType.simplePacket: return try simplePacket(cursor)
        case BlockType.statistics: return try statistics(cursor)
        default: break
        }
        return []
    }

    private mutating func introduce(_ body: OctetCursor) throws(CaptureReader.Fault) {
        var body = body, interface = Interface()
        guard interfaces.count < Self.mostInterfaces else {
            throw CaptureReader.Fault("it has more than \(Self.mostInterfaces) interfaces")
        }
        guard let link = body.number(2), body.bytes(2) != nil, let snapLength = body.number(4) else {
            throw Self.short("an interface")
        }
        interface.link = Link(rawValue: link)
        interface.linkType = link
        interface.snapLength = snapLength
        for (code, value) in options(body) {
            switch code {
            case 2: interface.source.machine = Self.text(value)
            case 3: interface.source.program = Self.text(value)
            case 9: interface.units.resolution = value.first ?? 6
            case 14:
                var cursor = OctetCursor(value, isBigEndian: isBigEndian)
                interface.units.offset = Int64(bitPattern: cursor.number(8) ?? 0)
            default: break
            }
        }
        interfaces.append(interface)
    }

    private mutating func packet(_ body: OctetCursor) throws(CaptureReader.Fault) -> [CaptureReader.Item] {
        var body = body
        guard let number = body.word(), let high = body.number(4), let low = body.number(4), let count = body.word(),
            let original = body.word(), let data = body.bytes(Int(count)), body.bytes(-Int(count) & 3) != nil
        else { throw Self.short("a packet") }
        let interface = try interface(number), time = interface.units.instant(high << 32 | low)
        let comments = options(body).filter { $0.code == 1 }.map {
            CaptureReader.Item.comment(Self.text($0.value), of: interface.source, at: time)
        }
        return comments + items(of: data, missing: max(0, Int(original) - data.count), at: time, interface)
    }

    private mutating func simplePacket(_ body: OctetCursor) throws(CaptureReader.Fault) -> [CaptureReader.Item] {
        var body = body
        guard let original = body.word() else { throw Self.short("a packet") }
        let interface = try interface(0)
        let kept = interface.snapLength > 0 ? min(Int(original), Int(interface.snapLength)) : Int(original)
        guard let data = body.bytes(min(kept, body.count)) else { throw Self.short("a packet") }
        return items(of: data, missing: Int(original) - data.count, at: Instant(), interface)
    }

    private mutating func statistics(_ body: OctetCursor) throws(CaptureReader.Fault) -> [CaptureReader.Item] {
        var body = body, items: [CaptureReader.Item] = []
        guard let number = body.word(), let high = body.number(4), let low = body.number(4) else {
            throw Self.short("a block of statistics")
        }
        let interface = try interface(number), time = interface.units.instant(high << 32 | low)
        for (code, value) in options(body) {
            var cursor = OctetCursor(value, isBigEndian: isBigEndian)
            if code == 1 { items.append(.comment(Self.text(value), of: interface.source, at: time)) }
            guard code == 5, let lost = cursor.number(8), lost > interface.lost else { continue }
            items.append(.lost(Int(clamping: lost - interface.lost), of: interface.source))
            interfaces[Int(number)].lost = lost
        }
        return items
    }

    private func interface(_ number: UInt32) throws(CaptureReader.Fault) -> Interface {
        guard interfaces.indices.contains(Int(number)) else {
            throw CaptureReader.Fault("a block uses interface \(number), which was not described")
        }
        return interfaces[Int(number)]
    }

    private mutating func items(
        of data: ArraySlice<UInt8>,
        missing: Int,
        at time: Instant,
        _ interface: Interface
    ) -> [CaptureReader.Item] {
        func packet(_ direction: PacketRecord.Direction, _ bytes: ArraySlice<UInt8>) -> [CaptureReader.Item] {
            let source = interface.source
            return [
                .packet(.init(source: source, direction: direction, time: time, bytes: Array(bytes), missing: missing))
            ]
        }
        switch interface.link {
        case .h4WithDirection where data.count >= 4:
            let direction: PacketRecord.Direction = data[data.startIndex + 3] & 1 == 1 ? .toHost : .toController
            return packet(direction, data.dropFirst(4))
        case .h4: return packet(Self.likelyDirection(of: data), data)
        case .monitor:
            var cursor = OctetCursor(data, isBigEndian: true)
            guard let index = cursor.number(2), let opcode = cursor.number(2) else { break }
            let item = MonitorOpcode.item(
                UInt16(opcode),
                of: UInt16(index),
                data.dropFirst(4),
                missing: missing,
                at: time
            )
            return item.map { [$0] } ?? []
        case .h4WithDirection: break
        case nil: note(foreign: interface.linkType)
        }
        skippedPackets += 1
        return []
    }

    private mutating func note(foreign linkType: UInt64) {
        guard !skippedLinkTypes.contains(linkType), skippedLinkTypes.count < Self.mostSkippedLinkTypes else { return }
        skippedLinkTypes.append(linkType)
    }

    /// Returns the likely direction of a packet whose direction is not recorded.
    private static func likelyDirection(of packet: ArraySlice<UInt8>) -> PacketRecord.Direction {
        switch packet.first.map(HCI.PacketType.init) {
        case .command: .toController
        // Hosts and controllers mark first fragments with different flags.
        case .acl: packet.dropFirst(2).first.map { $0 >> 4 & 3 } == 0 ? .toController : .toHost
        default: .toHost
        }
    }

    private func options(_ rest: OctetCursor) -> [(code: UInt64, value: ArraySlice<UInt8>)] {
        var rest = rest, found: [(UInt64, ArraySlice<UInt8>)] = []
        while found.count < Self.mostOptions, let code = rest.number(2), let count = rest.number(2), code != 0,
            let value = rest.bytes(Int(count))
        {
            found.append((code, value))
            guard rest.bytes(-Int(count) & 3) != nil else { break }
        }
        return found
    }

    private static func text(_ octets: ArraySlice<UInt8>) -> String {
        String(decoding: octets.prefix { $0 != 0 }.prefix(1_024), as: UTF8.self)
    }

    private static func short(_ what: String) -> CaptureReader.Fault {
        CaptureReader.Fault("\(what) is truncated")
    }
}

/// The resolution and offset of an interface's timestamps (`if_tsresol` and `if_tsoffset`).
private struct TimeUnits: Sendable {
    /// The number of units per second, as an exponent: of 10, or of 2 if the highest bit is set.
    ///
    /// The default is microseconds.
    var resolution: UInt8 = 6
    /// The number of seconds to add to each timestamp.
    var offset: Int64 = 0

    /// Converts a timestamp to the time since 1970.
    ///
    /// The result is 0 if the time is out of range.
    func instant(_ count: UInt64) -> Instant {
        let power = Int(resolution & 0x7F), seconds: UInt64, rest: UInt64
        if resolution & 0x80 != 0 {
            guard power < 64 else { return Instant() }
            seconds = count >> UInt64(power)
            let fraction = count & ((1 << UInt64(power)) &- 1), shift = max(0, power - 30)
            rest = ((fraction >> UInt64(shift)) &* 1_000_000_000) >> UInt64(power - shift)
        } else {
            guard power < 20 else { return Instant() }
            let unit = (0..<power).reduce(UInt64(1)) { unit, _ in unit &* 10 }
            seconds = count / unit
            let (high, low) = (count % unit).multipliedFullWidth(by: 1_000_000_000)
            rest = unit.dividingFullWidth((high, low)).quotient
        }
        let (whole, overflow) = Int64(clamping: seconds).addingReportingOverflow(offset)
        let (scaled, tooMuch) = whole.multipliedReportingOverflow(by: 1_000_000_000)
        let (time, beyond) = scaled.addingReportingOverflow(Int64(clamping: rest))
        return overflow || tooMuch || beyond ? Instant() : Instant(nanoseconds: time)
    }
}
