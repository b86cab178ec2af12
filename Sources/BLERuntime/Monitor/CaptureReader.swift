package import BLEWire

/// A streaming reader of pcapng, btsnoop and PacketLogger captures of HCI packets.
///
/// It can be given any octets. If they are invalid, it throws a ``Failure``, and throws it again whenever it is asked
/// for more. Parts that it does not need are skipped without being stored.
package struct CaptureReader: Sendable {
    /// One piece of information from a capture.
    package enum Item: Equatable, Sendable {
        case packet(PacketRecord)
        /// A comment, such as a request from an app or an event for an app.
        case comment(String, of: PacketSource, at: Instant)
        /// The number of packets that have been lost since the previous item of this kind, because the capturing
        /// program was too slow.
        case lost(Int, of: PacketSource)
    }

    /// The reason why a capture is invalid or cannot be read.
    package struct Failure: Error, Equatable, Sendable, CustomStringConvertible {
        package let reason: String
        /// The number of octets before the invalid part.
        package let offset: Int
        package var description: String { offset == 0 ? reason : "\(reason), at octet \(offset)" }
    }

    /// The result of a parsing step.
    enum Step {
        /// The record is not complete yet.
        case more
        /// A record with this number of octets was read, and contains these items.
        case took(Int, [Item])
        /// The next octets are not needed; the value is their number.
        case skip(Int)
    }

    /// The reason why a record is invalid.
    struct Fault: Error {
        let reason: String
        init(_ reason: String) { self.reason = reason }
    }

    private enum Kind: Sendable {
        case unknown
        case blocks(CaptureBlocks)
        case snoop(SnoopRecords)
        case logger(PacketLoggerRecords)
        case broken(Failure)
    }

    /// The maximum length of a record, in octets; longer than any packet with comments.
    static let mostRecord = 1 << 20

    private var kind = Kind.unknown
    private var octets: [UInt8] = []
    /// The number of octets in `octets` that have been read.
    private var start = 0
    /// The number of octets that have been read and removed from `octets`.
    private var offset = 0
    /// The number of octets that must still be skipped.
    private var toSkip = 0
    private var items: ArraySlice<Item> = []

    package init() {}

    /// The number of packets in a pcapng capture that were skipped because they are not HCI packets; 0 in other
    /// formats.
    package var skippedPackets: Int { if case .blocks(let blocks) = kind { blocks.skippedPackets } else { 0 } }

    /// The names of the link types that were skipped in a pcapng capture because they are not HCI: each once, and at
    /// most eight.
    ///
    /// Empty for other formats.
    package var skippedLinkNames: [String] {
        if case .blocks(let blocks) = kind { blocks.skippedLinkTypes.map(CaptureKind.name(ofLink:)) } else { [] }
    }

    /// Appends the next octets of the capture.
    package mutating func append(_ more: some Sequence<UInt8>) {
        if start > 0 {
            octets.removeFirst(start)
            (offset, start) = (offset + start, 0)
        }
        octets.append(contentsOf: more)
    }

    /// Returns the next item; `nil` if more octets are needed.
    package mutating func next() throws(Failure) -> Item? {
        while true {
            if let item = items.popFirst() { return item }
            let skipped = min(toSkip, octets.count - start)
            (toSkip, start) = (toSkip - skipped, start + skipped)
            guard toSkip == 0 else { return nil }
            do throws(Fault) {
                switch try step() {
                case .more: return nil
                case .took(let count, let found):
                    start += count
                    items = found[...]
                case .skip(let count): toSkip = count
                }
            } catch {
                let failure = Failure(reason: error.reason, offset: offset + start)
                if case .broken = kind {} else { kind = .broken(failure) }
                throw failure
            }
        }
    }

    /// Checks that the capture is complete.
    ///
    /// - Throws: A failure if the file ends inside a record, is empty, or is not a capture.
    package func finish() throws(Failure) {
        let read = offset + start
        if case .broken(let failure) = kind { throw failure }
        if toSkip > 0 {
            throw Failure(reason: "it ends inside a block, \(toSkip.withNoun("octet")) short", offset: read)
        }
        if case .unknown = kind {
            throw Failure(reason: octets.isEmpty ? "it is empty" : Self.reason(to: octets[...]), offset: 0)
        }
        guard start == octets.count else {
            throw Failure(
                reason: "it ends inside a record, after \((octets.count - start).withNoun("octet"))",
                offset: read
            )
        }
    }

    /// Returns the reason why a file that begins with these octets cannot be read.
    private static func reason(to beginning: ArraySlice<UInt8>) -> String {
        if let known = CaptureKind.description(of: beginning) {
            return "\(known); only pcapng, btsnoop and pklg can be read"
        }
        return "it is neither pcapng nor btsnoop nor pklg (“editcap -F pcapng” converts other formats)"
    }

    private mutating func step() throws(Fault) -> Step {
        let rest = octets[start...]
        switch kind {
        case .unknown:
            try recognize(rest)
            if case .unknown = kind { return .more }
            return .took(0, [])
        case .blocks(var blocks):
            kind = .unknown
            defer { kind = .blocks(blocks) }
            return try blocks.step(rest)
        case .snoop(var records):
            kind = .unknown
            defer { kind = .snoop(records) }
            return try records.step(rest)
        case .logger(let records): return try records.step(rest)
        case .broken(let failure): throw Fault(failure.reason)
        }
    }

    private mutating func recognize(_ beginning: ArraySlice<UInt8>) throws(Fault) {
        let known: [(magic: [UInt8], kind: Kind)] = [
            ([0x0A, 0x0D, 0x0D, 0x0A], .blocks(CaptureBlocks())),
            (Array("btsnoop\0".utf8), .snoop(SnoopRecords())),
        ]
        guard let match = known.first(where: { beginning.starts(with: $0.magic.prefix(beginning.count)) }) else {
            if let records = PacketLoggerRecords(beginning: beginning) {
                kind = .logger(records)
                return
            }
            if CaptureKind.needsMore(than: beginning) { return }
            throw Fault(Self.reason(to: beginning))
        }
        if beginning.count >= 8 { kind = match.kind }
    }
}

/// A reader of numbers from a file's octets, which checks that enough octets are left.
struct OctetCursor {
    private var rest: ArraySlice<UInt8>
    private let isBigEndian: Bool

    init(_ octets: ArraySlice<UInt8>, isBigEndian: Bool) {
        rest = octets
        self.isBigEndian = isBigEndian
    }

    /// The number of unread octets.
    var count: Int { rest.count }

    /// Reads a number that takes `octets` octets, at most 8; returns `nil` if fewer are left.
    mutating func number(_ octets: Int) -> UInt64? {
        guard let taken = bytes(octets) else { return nil }
        return isBigEndian
            ? taken.reduce(0) { $0 << 8 | UInt64($1) } : taken.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Reads a number that takes four octets; returns `nil` if fewer are left.
    mutating func word() -> UInt32? { number(4).map { UInt32(truncatingIfNeeded: $0) } }

    /// Reads `count` octets; returns `nil` if fewer are left.
    mutating func bytes(_ count: Int) -> ArraySlice<UInt8>? {
        guard count >= 0, rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }
}
