import BLERuntime
import BLEWire
import Foundation

/// Prints what captures and hosts that are watched hold, and writes it down.
@MainActor
final class MonitorPrinter {
    /// How much is shown.
    enum Detail {
        case fields
        case lines
    }

    private let printer: Printer
    private let detail: Detail
    private let files: [CaptureFile]
    private var traces = PacketTraces()
    /// How many packets were shown.
    private(set) var count = 0

    init(_ printer: Printer, detail: Detail, files: [CaptureFile]) {
        self.printer = printer
        self.detail = detail
        self.files = files
    }

    func print(_ item: CaptureReader.Item) {
        switch item {
        case .packet(let record): print(record)
        case .comment(let text, let source, let time): print(text, source, time)
        case .lost(let count, let source):
            let fact = ["count": count, "program": source.program, "who": source.machine] as [String: Any]
            printer.print(Fact("lost", fact, text: ""))
            let place = source.title.isEmpty ? "" : " of \(source.title)"
            printer.remark("\(count) packets and calls\(place) were not shown.")
        }
    }

    private func print(_ record: PacketRecord) {
        count += 1
        for file in files { file.write(record) }
        printer.print(
            Fact(
                record,
                traces.dissect(record),
                time: record.time.secondsSince1970,
                stamp: record.time.timeOfDay,
                showsFields: detail == .fields,
                usesColor: printer.usesColor
            )
        )
    }

    private func print(_ text: String, _ source: PacketSource, _ time: Instant) {
        for file in files { file.comment(text) }
        let fields: [String: Any] = [
            "time": time.secondsSince1970, "program": source.program, "who": source.machine, "text": text,
        ]
        let line = "\(time.timeOfDay)    \(source.title)  \(text.printable)"
        printer.print(Fact("call", fields, text: line.bold(printer.usesColor)))
    }
}

extension Instant {
    /// What this is if it counts from 1970.
    fileprivate var secondsSince1970: Double { Double(nanoseconds) / 1_000_000_000 }

    /// For people: the time of the day here, if this counts from 1970.
    fileprivate var timeOfDay: String {
        var second = time_t(nanoseconds / 1_000_000_000), parts = tm()
        localtime_r(&second, &parts)
        let microseconds = Int(nanoseconds % 1_000_000_000) / 1_000
        return String(
            format: "%02d:%02d:%02d.%06d",
            parts.tm_hour,
            parts.tm_min,
            parts.tm_sec,
            max(0, microseconds)
        )
    }
}
