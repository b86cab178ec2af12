package import BLEWire

/// A streaming reader of pcapng and btsnoop captures of HCI packets.
///
/// It accepts any octets. Invalid ones are a ``Failure``, after which nothing is read. Irrelevant parts are skipped
/// without being stored.
package struct CaptureReader: Sendable {
    /// An item of a capture.
    package enum Item: Equatable, Sendable {
        case packet(PacketRecord)
        /// A comment, such as a request or event of an app.
        case comment(String, of: PacketSource, at: Instant)
        /// A number of lost packets.
        case lost(Int, of: PacketSource)
    }

    /// The reason why octets are not a valid capture, or not to the end.
    package struct Failure: Error, Equatable, Sendable, CustomStringConvertible {
        package let reason: String
        /// The number of valid octets.
        package let offset: Int
        package var description: String { offset == 0 ? reason : "\(reason), at octet \(offset)" }
    }

    /// The result of a parsing step.
    enum Step {
        /// More octets are needed.
        case more
        /// This number of octets was read, with these items.
        case took(Int, [Item])
        /// This number of octets is irrelevant.
        case skip(Int)
    }

    /// The error in the octets.
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

    /// The maximum length of a record, in octets, which is more than any packet with comments needs.
    static let mostRecord = 1 << 20

    private var kind = Kind.unknown
    private var octets: [UInt8] = []
    /// The number of octets that were read.
    private var start = 0
    /// The number of octets that were read before them.
    private var offset = 0
    /// The number of following octets to skip.
    private var toSkip = 0
    private var items: ArraySlice<Item> = []

    package init() {}

    /// The number of skipped packets that are not HCI.
    package var foreignPackets: Int { if case .blocks(let blocks) = kind { blocks.foreignPackets } else { 0 } }

    /// The names of the link types that packets had which are not HCI.
    package var foreignLinks: [String] {
        if case .blocks(let blocks) = kind { blocks.foreignLinkTypes.map(CaptureKind.name(ofLink:)) } else { [] }
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

    /// Checks that the capture may end here.
    package func finish() throws(Failure) {
        let read = offset + start
        if case .broken(let failure) = kind { throw failure }
        if toSkip > 0 {
            throw Failure(reason: "it ends inside a block, \(toSkip) octets short", offset: read)
        }
        if case .unknown = kind {
            throw Failure(reason: octets.isEmpty ? "it is empty" : Self.reason(to: octets[...]), offset: 0)
        }
        guard start == octets.count else {
            throw Failure(
                reason: "it ends inside a record, after \(octets.count - start) octets",
                offset: read
            )
        }
    }

    /// Why a file that begins with these octets is not read.
    private static func reason(to beginning: ArraySlice<UInt8>) -> String {
        if let known = CaptureKind.description(of: beginning) { return "\(known); pcapng and btsnoop are read" }
        return "it is neither pcapng nor btsnoop (“editcap -F pcapng” converts other formats)"
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
