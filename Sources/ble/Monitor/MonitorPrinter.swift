import BLERuntime
import BLEWire

/// A printer for the packets of captures and hosts, which also writes the packets to files.
@MainActor
final class MonitorPrinter {
    /// The level of detail of the printed packets.
    enum Detail {
        case fields
        case lines
    }

    /// The places in which the keys of pairings and links stay readable; everywhere else, they are overwritten.
    enum Keys {
        case everywhere
        /// In the output, but not in files.
        case inOutput
        case nowhere
    }

    private let printer: Printer
    private let detail: Detail
    private let files: [CaptureFile]
    private let keys: Keys
    private var filter = KeyFilter()
    private var traces = PacketTraces()
    /// The number of packets that have been printed.
    private(set) var count = 0
    /// The number of packets that contained keys; always 0 if `keys` is `everywhere`.
    ///
    /// The keys are overwritten in the files and, if `keys` is `nowhere`, in the output.
    private(set) var redactedCount = 0

    init(_ printer: Printer, detail: Detail, files: [CaptureFile], keys: Keys = .inOutput) {
        self.keys = keys
        self.printer = printer
        self.detail = detail
        self.files = files
    }

    func print(_ item: CaptureReader.Item) {
        switch item {
        case .packet(let record): print(record)
        case .comment(let text, let source, let time): print(text, source, time)
        case .lost(let count, let source):
            printer.print(Fact("lost", source.fields.merging(["count": count]) { _, new in new }, text: ""))
            let place = source.title.isEmpty ? "" : " of \(source.title)"
            let dropped = count == 1 ? "1 packet or call" : "\(count) packets or calls"
            printer.remark("\(dropped)\(place) \(count == 1 ? "was" : "were") dropped.")
        }
    }

    private func print(_ original: PacketRecord) {
        count += 1
        let (clean, hidden) = filter.filter(original)
        if hidden != nil, keys != .everywhere { redactedCount += 1 }
        for file in files { file.write(keys == .everywhere ? original : clean) }
        let record = keys == .nowhere ? clean : original
        let time = Timestamp(since1970: record.time)
        var (packet, summary) = traces.read(record)
        if keys == .nowhere, let hidden {
            packet.layers = KeyFilter.hide(hidden, in: packet.layers)
            packet.completed = KeyFilter.hide(0..<0, in: packet.completed)
        }
        printer.print(
            Fact(
                record,
                packet,
                summary,
                isRedacted: keys == .nowhere && hidden != nil,
                stamp: stamp(time),
                time: time,
                showsFields: detail == .fields,
                usesColor: printer.usesColor
            )
        )
    }

    private func print(_ text: String, _ source: PacketSource, _ instant: Instant) {
        for file in files { file.comment(text) }
        let time = Timestamp(since1970: instant)
        let start = stamp(time), line = "\(start.isEmpty ? "" : start + "    ")\(source.title)  \(text.printable)"
        let fields = source.fields.merging(["text": text]) { _, new in new }
        printer.print(Fact("call", fields, text: line.bold(printer.usesColor), at: time))
    }

    /// Returns the time of day to print with a packet; empty if the printer puts the time in front of each line anyway.
    private func stamp(_ time: Timestamp) -> String { printer.showsTime ? "" : time.timeOfDay }
}
