import BLERuntime
import Foundation

/// One event or result: a line for users, or a JSON object for scripts.
struct Fact {
    /// The value of `"event"` in JSON.
    let event: String
    /// The other fields of the JSON object: strings, numbers, booleans, arrays and dictionaries of these.
    let fields: [String: Any]
    /// The line for users; empty for none.
    let text: String
    /// When it happened; `nil` if that is now.
    let time: Timestamp?

    /// Creates a fact; ``JSONKey`` has the keys of `fields`.
    init(_ event: String, _ fields: [String: Any] = [:], text: String, at time: Timestamp? = nil) {
        self.event = event
        self.fields = fields
        self.text = text
        self.time = time
    }
}

/// Prints facts to standard output as they arrive.
@MainActor
final class Printer {
    private let json: Bool
    /// The clock that tells when facts are printed, if that is printed.
    private let clock: (() -> Timestamp)?

    /// The device that all facts are about that do not name another one.
    var device: (@MainActor () -> DeviceKeys)?

    /// True if the output is for users, not scripts.
    var isForPeople: Bool { !json }

    /// True if each line for people begins with the time.
    var showsTime: Bool { !json && clock != nil }

    /// True if to use colour: only at a terminal, and unless the user has turned it off.
    let usesColor: Bool

    private let write: (String) -> Void

    /// Creates a printer with the options of the user.
    convenience init(_ options: OutputOptions) {
        self.init(json: options.json, clock: options.timestamps ? { .now } : nil)
    }

    /// Creates a printer.
    ///
    /// `write` takes the lines instead of standard output; `clock` gives the timestamps of facts, if they are to have
    /// any.
    init(json: Bool, write: ((String) -> Void)? = nil, clock: (() -> Timestamp)? = nil) {
        self.json = json
        self.clock = clock
        self.write = write ?? { StandardOutput.write(line: $0) }
        usesColor = !json && isatty(1) != 0 && ProcessInfo.processInfo.environment["NO_COLOR"] == nil
    }

    func print(_ fact: Fact) {
        if json {
            var object = fact.fields
            object["event"] = fact.event
            object["time"] = (fact.time ?? clock?())?.rfc3339
            if let device { object.merge(device().fields) { own, _ in own } }
            printObject(object)
        } else if !fact.text.isEmpty {
            let stamp = clock.map { (fact.time ?? $0()).rfc3339 + "  " } ?? ""
            write((stamp + fact.text).printableLines)
        }
    }

    /// Prints the titles of columns above facts; only people read them.
    func heading(_ columns: String) {
        guard !json else { return }
        let stamp = clock.map { "TIME".padded(to: $0().rfc3339.count + 2) } ?? ""
        write((stamp + columns).bold(usesColor))
    }

    /// Writes a sentence for people to standard error, so that what pipes carry are facts alone.
    func remark(_ text: String) { try? StandardStream.error.write(line: text) }

    private func printObject(_ object: [String: Any]) {
        let options: JSONSerialization.WritingOptions = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? JSONSerialization.data(withJSONObject: object, options: options) else {
            preconditionFailure("a fact holds something that JSON cannot: \(object)")
        }
        write(String(decoding: data, as: UTF8.self).printableJSON)
    }
}

extension String {
    /// The text in bold if `on`.
    func bold(_ on: Bool) -> String { emphasized(.bold, on) }
    /// The text in faint if `on`.
    func faint(_ on: Bool) -> String { emphasized(.faint, on) }

    private func emphasized(_ emphasis: Emphasis, _ on: Bool) -> String {
        on ? emphasis.rawValue + self + Emphasis.none.rawValue : self
    }

    /// The text with spaces after it, at least `width` characters long.
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
