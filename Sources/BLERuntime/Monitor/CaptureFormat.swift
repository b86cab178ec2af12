/// A format for captured HCI packets, in a file or a stream.
package enum CaptureFormat: Equatable, Sendable {
    /// pcapng (draft-ietf-opsawg-pcapng) with link type 201 (Bluetooth HCI UART with direction). It supports several
    /// sources, and comments.
    case pcapng
    /// btsnoop, as used by btmon and phones, with data link type 1002 (HCI UART). It contains only packets.
    case btsnoop

    /// Chooses the format by the extension of a file; returns `nil` for unknown extensions.
    package init?(path: String) {
        if path.hasSuffix(".pcapng") {
            self = .pcapng
        } else if path.hasSuffix(".btsnoop") {
            self = .btsnoop
        } else {
            return nil
        }
    }

    /// The octets at the beginning of each file.
    package var header: [UInt8] {
        switch self {
        case .pcapng:
            // Byte-order magic, version 1.0, and -1 for an unknown length of the section.
            Self.block(0x0A0D_0D0A, 0x1A2B_3C4D.octets(4) + 1.octets(2) + 0.octets(2) + (-1).octets(8))
        case .btsnoop: Array("btsnoop\0".utf8) + 1.bigOctets(4) + 1_002.bigOctets(4)
        }
    }

    /// The maximum length of a comment, in octets.
    private static let commentLength = 300

    /// Returns a comment as it is stored in a file: shortened to the maximum length.
    package static func comment(_ text: String) -> String {
        String(decoding: text.utf8.prefix(commentLength), as: UTF8.self)
    }

    /// Returns the record that introduces a source.
    ///
    /// It has to precede the source's first packet.
    ///
    /// The machine becomes the name of a pcapng interface, the program its description.
    ///
    /// - Parameters:
    ///   - source: The source to introduce.
    ///   - before1970: True if the source's packets are from before 1970. Times in pcapng cannot be negative, so these
    ///     packets need an interface of their own, whose times count from ``earliestSecond``.
    /// - Returns: The octets of the record; empty if the format has no such record.
    package func introduction(of source: PacketSource, before1970: Bool = false) -> [UInt8] {
        guard self == .pcapng else { return [] }
        var options = Self.option(2, Array(source.machine.utf8.prefix(255)))
        if !source.program.isEmpty { options += Self.option(3, Array(source.program.utf8.prefix(255))) }
        options += Self.option(9, [9])
        if before1970 { options += Self.option(14, Int(Self.earliestSecond).octets(8)) }
        options += Self.option(0, [])
        return Self.block(1, 201.octets(2) + 0.octets(2) + 0.octets(4) + options)
    }

    /// Returns a record that can stand between packets, with comments and the number of lost packets.
    ///
    /// In pcapng, it is a block of interface statistics.
    ///
    /// - Parameters:
    ///   - comments: The comments to include.
    ///   - lost: The number of packets lost since the beginning; `nil` to leave it out.
    ///   - source: The number of the source, in the order of the introductions, from 0.
    ///   - time: Nanoseconds since 1970.
    /// - Returns: The octets of the record; empty if the format has no such record.
    package func statistics(comments: [String], lost: Int? = nil, of source: Int, at time: Int64) -> [UInt8] {
        guard self == .pcapng else { return [] }
        var options = comments.flatMap { Self.option(1, Array($0.utf8.prefix(1_024))) }
        if let lost { options += Self.option(5, lost.octets(8)) }
        return Self.block(5, source.octets(4) + Self.stamp(time) + options + Self.option(0, []))
    }

    /// Returns the record of a packet.
    ///
    /// - Parameters:
    ///   - packet: The packet in H4 form, including its indicator.
    ///   - direction: The direction of the packet.
    ///   - missing: The number of octets by which `packet` is shorter than the original packet, because it comes from a
    ///     capture that did not keep them.
    ///   - source: The number of the source, in the order of the introductions, from 0.
    ///   - time: Nanoseconds since 1970. In pcapng, it can be negative only if the source was introduced with
    ///     `before1970`.
    ///   - comments: The comments on the packet. Ignored if the format has no comments.
    /// - Returns: The octets of the record.
    package func record(
        _ packet: [UInt8],
        _ direction: PacketRecord.Direction,
        missing: Int = 0,
        of source: Int,
        at time: Int64,
        comments: [String]
    ) -> [UInt8] {
        let isReceived = direction == .toHost
        switch self {
        case .pcapng:
            let data = (isReceived ? 1 : 0).bigOctets(4) + packet
            let padding = [UInt8](repeating: 0, count: -data.count & 3)
            var options = comments.flatMap { Self.option(1, Array($0.utf8.prefix(1_024))) }
            if !options.isEmpty { options += Self.option(0, []) }
            let lengths = data.count.octets(4) + Self.length(data, missing).octets(4)
            let head = source.octets(4) + Self.stamp(time) + lengths
            return Self.block(6, head + data + padding + options)
        case .btsnoop:
            // A flag distinguishes commands and events from data. Times count from the year 0.
            let isControl = packet.first == 0x01 || packet.first == 0x04
            let flags = (isReceived ? 1 : 0) | (isControl ? 2 : 0)
            let lengths = Self.length(packet, missing).bigOctets(4) + packet.count.bigOctets(4)
            let (whole, rest) = time.quotientAndRemainder(dividingBy: 1_000)
            let microseconds = 0x00DC_DDB3_0F2F_8000 + Int(whole) - (rest < 0 ? 1 : 0)
            return lengths + flags.bigOctets(4) + 0.bigOctets(4) + microseconds.bigOctets(8) + packet
        }
    }

    /// The offset of timestamps on an interface for packets from before 1970, in seconds since 1970.
    ///
    /// It is the second that contains the earliest time that an `Int64` of nanoseconds can express.
    private static let earliestSecond: Int64 = -9_223_372_037

    /// Returns the octets of a pcapng timestamp: two halves, the higher one first.
    private static func stamp(_ time: Int64) -> [UInt8] {
        let count = time < 0 ? UInt64(bitPattern: time &- earliestSecond &* 1_000_000_000) : UInt64(time)
        return Int(count >> 32).octets(4) + Int(count & 0xFFFF_FFFF).octets(4)
    }

    /// Returns the original length of a packet, limited to the maximum that a record can express.
    private static func length(_ kept: [UInt8], _ missing: Int) -> Int {
        min(kept.count + max(0, min(missing, Int(UInt32.max))), Int(UInt32.max))
    }

    private static func block(_ type: Int, _ body: [UInt8]) -> [UInt8] {
        let length = (body.count + 12).octets(4)
        return type.octets(4) + length + body + length
    }

    private static func option(_ code: Int, _ value: [UInt8]) -> [UInt8] {
        code.octets(2) + value.count.octets(2) + value + [UInt8](repeating: 0, count: -value.count & 3)
    }
}

extension Int {
    /// Returns the lowest `count` octets of the number, least significant first.
    fileprivate func octets(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: self >> (8 * $0)) }
    }

    /// Returns the lowest `count` octets of the number, most significant first.
    fileprivate func bigOctets(_ count: Int) -> [UInt8] { octets(count).reversed() }
}
