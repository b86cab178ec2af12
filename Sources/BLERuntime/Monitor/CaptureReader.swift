package import BLEWire

/// Reads captures of HCI packets, ours and those of others: pcapng and btsnoop, as their octets come.
///
/// Any octets may come; those that are no capture are a ``Failure``, after which nothing is read. What is of no concern
/// is passed over without being kept.
package struct CaptureReader: Sendable {
    /// Something that a capture holds.
    package enum Item: Equatable, Sendable {
        case packet(PacketRecord)
        /// What somebody has written beside packets, such as what apps asked for and heard.
        case comment(String, of: PacketSource, at: Instant)
        /// So many packets are missing here.
        case lost(Int, of: PacketSource)
    }

    /// Why octets are no capture, or not to the end.
    package struct Failure: Error, Equatable, Sendable, CustomStringConvertible {
        package let reason: String
        /// How many octets are right.
        package let offset: Int
        package var description: String { offset == 0 ? reason : "\(reason), at octet \(offset)" }
    }

    /// How a parser got on with the octets that there are.
    enum Step {
        /// More of them are needed.
        case more
        /// So many were read, and that is what they hold.
        case took(Int, [Item])
        /// So many are of no concern.
        case skip(Int)
    }

    /// What is wrong with octets.
    struct Fault: Error {
        let reason: String
        init(_ reason: String) { self.reason = reason }
    }

    private enum Kind: Sendable {
        case unknown
        case blocks(CaptureBlocks)
        case snoop(SnoopRecords)
        case broken(Failure)
    }

    /// How many octets a record may have: more than any packet, whatever is written beside it.
    static let mostRecord = 1 << 20

    private var kind = Kind.unknown
    private var octets: [UInt8] = []
    /// How many of them were read.
    private var start = 0
    /// How many octets were read before them.
    private var offset = 0
    /// How many octets that are still to come are of no concern.
    private var toSkip = 0
    private var items: ArraySlice<Item> = []

    package init() {}

    /// How many packets were passed over since they are not HCI.
    package var foreignPackets: Int { if case .blocks(let blocks) = kind { blocks.foreignPackets } else { 0 } }

    /// The names of the link types that packets had which are not HCI.
    package var foreignLinks: [String] {
        if case .blocks(let blocks) = kind { blocks.foreignLinkTypes.map(CaptureKind.name(ofLink:)) } else { [] }
    }

    /// Takes the next octets of the capture.
    package mutating func append(_ more: some Sequence<UInt8>) {
        if start > 0 {
            octets.removeFirst(start)
            (offset, start) = (offset + start, 0)
        }
        octets.append(contentsOf: more)
    }

    /// The next item of what has come so far; `nil` if more octets are needed.
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

    /// Says whether the capture may end here, when nothing more comes.
    package func finish() throws(Failure) {
        let read = offset + start
        if case .broken(let failure) = kind { throw failure }
        if toSkip > 0 {
            throw Failure(reason: "it ends inside a block that should go on for \(toSkip) octets", offset: read)
        }
        if case .unknown = kind {
            throw Failure(reason: octets.isEmpty ? "it is empty" : Self.reason(to: octets[...]), offset: 0)
        }
        guard start == octets.count else {
            throw Failure(
                reason: "it ends inside a record, of which \(octets.count - start) octets are there",
                offset: read
            )
        }
    }

    /// Why a file that begins with these octets is not read.
    private static func reason(to beginning: ArraySlice<UInt8>) -> String {
        if let known = CaptureKind.description(of: beginning) { return "\(known); pcapng and btsnoop are read" }
        return "it is neither pcapng nor btsnoop (“editcap -F pcapng” makes pcapng of captures of other kinds)"
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
        case .broken(let failure): throw Fault(failure.reason)
        }
    }

    private mutating func recognize(_ beginning: ArraySlice<UInt8>) throws(Fault) {
        let known: [(magic: [UInt8], kind: Kind)] = [
            ([0x0A, 0x0D, 0x0D, 0x0A], .blocks(CaptureBlocks())),
            (Array("btsnoop\0".utf8), .snoop(SnoopRecords())),
        ]
        guard let match = known.first(where: { beginning.starts(with: $0.magic.prefix(beginning.count)) }) else {
            if CaptureKind.needsMore(than: beginning) { return }
            throw Fault(Self.reason(to: beginning))
        }
        if beginning.count >= 8 { kind = match.kind }
    }
}
