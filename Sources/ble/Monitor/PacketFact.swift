import BLEExplain
import BLERuntime
import BLEWire
import Foundation

extension Fact {
    /// Creates a fact about a packet: a summary line, then one line for each field.
    ///
    /// - Parameters:
    ///   - record: The packet.
    ///   - packet: The dissected packet.
    ///   - summary: The summary of the packet.
    ///   - isRedacted: True if keys in the packet were overwritten.
    ///   - stamp: The time of the packet, for users; not shown if empty.
    ///   - time: The time of the packet on the wall clock; `nil` in a world, which has virtual time.
    ///   - showsFields: True to show the fields to users.
    ///   - usesColor: True to use colour.
    init(
        _ record: PacketRecord,
        _ packet: DissectedPacket,
        _ summary: PacketWords.Summary,
        isRedacted: Bool = false,
        stamp: String,
        time: Timestamp? = nil,
        showsFields: Bool = true,
        usesColor: Bool
    ) {
        let arrow = record.direction == .toController ? "→ controller" : "→ host"
        let source = record.source.title.isEmpty ? "" : record.source.title + " "
        let names = packet.layers.map(\.name).joined(separator: " / ")
        let completed = packet.completed.map(\.name).joined(separator: " / ")
        let lead = stamp.isEmpty ? "" : stamp + "    ", end = completed.isEmpty ? "" : ", completes \(completed)"
        let words = summary.text.isEmpty ? "" : ": \(summary.text.printable)"
        let head = "\(lead)\(source)\(arrow)  \(names)\(end)\(words)"
        var lines = [summary.kind.emphasis.map { head.emphasized($0, usesColor) } ?? head]
        for field in showsFields ? (packet.layers + packet.completed).flatMap(\.fields) : [] {
            let octets = "[\(field.range.lowerBound)..<\(field.range.upperBound)]"
            let line = "              \(octets.padded(to: 10)) \(field.name) = \(field.text)".printable
            lines.append(line.faint(usesColor))
        }
        self.init(
            "packet",
            Self.fields(record, packet, summary, isRedacted),
            text: lines.joined(separator: "\n"),
            at: time
        )
    }

    private static func fields(
        _ record: PacketRecord,
        _ packet: DissectedPacket,
        _ summary: PacketWords.Summary,
        _ isRedacted: Bool
    ) -> [String: Any] {
        var fields: [String: Any] = [
            "to": record.direction == .toController ? "controller" : "host",
            "octets": record.bytes.hexadecimal,
            "length": record.bytes.count + record.missing,
            "cut": packet.isCut,
            "malformed": packet.isMalformed,
            "redacted": isRedacted,
            "layers": packet.layers.map(object),
        ]
        fields.merge(record.source.fields) { _, new in new }
        if !summary.text.isEmpty { fields["summary"] = summary.text }
        if !packet.completed.isEmpty { fields["completed"] = packet.completed.map(object) }
        let codes = packet.codes
        fields["type"] = codes.type.map { Int($0.wire) }
        fields["opcode"] = codes.opcode.map { Int($0.wire) }
        fields["event_code"] = codes.event.map { Int($0.wire) }
        fields["subevent_code"] = codes.subevent.map { Int($0.wire) }
        fields["handle"] = codes.handles.first.map { Int($0) }
        if codes.handles.count > 1 { fields["handles"] = codes.handles.map { Int($0) } }
        fields["att_opcode"] = codes.attribute.map { Int($0.wire) }
        fields["smp_code"] = codes.security.map { Int($0.wire) }
        fields["signal_code"] = codes.signal.map { Int($0.wire) }
        return fields
    }

    private static func object(_ layer: DissectedLayer) -> [String: Any] {
        [
            "name": layer.name,
            "fields": layer.fields.map {
                ["name": $0.name, "start": $0.range.lowerBound, "end": $0.range.upperBound, "text": $0.text]
            },
        ]
    }
}

extension PacketWords.Kind {
    /// The colour of the packet's line on a terminal; `nil` for the usual one.
    fileprivate var emphasis: Emphasis? {
        switch self {
        case .control: .cyan
        case .attribute: .green
        case .security: .yellow
        case .failure: .red
        case .other: nil
        }
    }
}

extension PacketSource {
    /// The source's name in text for users: the program's name if it is known, otherwise the machine's.
    var title: String { (program.isEmpty ? machine : program).printable }

    /// The JSON keys that say on which machine, and in which program, a packet was captured.
    ///
    /// `who` is the previous name of `machine`; the next release removes it.
    var fields: [String: Any] {
        var fields: [String: Any] = ["machine": machine, "who": machine]
        if !program.isEmpty { fields["program"] = program }
        return fields
    }
}

/// The decoding states of packet sources: how a packet is decoded depends on earlier packets of its source.
struct PacketTraces {
    /// The maximum number of sources.
    ///
    /// When it is exceeded, the states of all sources are dropped.
    private static let most = 256

    private var traces: [PacketSource: HCITrace] = [:]
    private var words = PacketWords(reading: ValueFormat.reading)

    /// Dissects the next packet of a source, and summarizes it.
    mutating func read(_ record: PacketRecord) -> (packet: DissectedPacket, summary: PacketWords.Summary) {
        let packet = dissect(record)
        return (packet, words.summarize(record, packet))
    }

    private mutating func dissect(_ record: PacketRecord) -> DissectedPacket {
        if traces.count >= Self.most, traces[record.source] == nil { traces = [:] }
        return traces[record.source, default: HCITrace()]
            .dissect(h4: record.bytes, isFromHost: record.direction == .toController, missing: record.missing)
    }
}
