import BLERuntime
import Foundation

/// An event or a result that a command prints: as a line for users, or as a JSON object for scripts.
struct Fact {
    /// The value of `"event"` in JSON.
    let event: String
    /// The other fields of the JSON object: strings, numbers, booleans, arrays and dictionaries of these.
    let fields: [String: Any]
    /// The text for users; empty if users see nothing.
    let text: String
    /// The time of the event; `nil` for the time at which it is printed.
    let time: Timestamp?

    /// Creates a fact.
    ///
    /// The keys of `fields` must be in ``JSONKey``.
    init(_ event: String, _ fields: [String: Any] = [:], text: String, at time: Timestamp? = nil) {
        self.event = event
        self.fields = fields
        self.text = text
        self.time = time
    }
}

/// The output of a command, which prints facts to standard output immediately.
@MainActor
final class Printer {
    private let json: Bool
    /// The clock for the timestamps; `nil` if facts are printed without the time.
    private let clock: (() -> Timestamp)?

    /// Returns the device that facts are about if they name no device themselves.
    ///
    /// JSON objects contain the device's keys.
    var device: (@MainActor () -> DeviceKeys)?

    /// True if the output is for users, not scripts.
    var isForPeople: Bool { !json }

    /// True if each line for users begins with the time.
    var showsTime: Bool { !json && clock != nil }

    /// True if text is coloured: only on a terminal, and not if `NO_COLOR` is set.
    let usesColor: Bool

    private let write: (String) -> Void

    /// Creates a printer for standard output, with the user's options.
    convenience init(_ options: OutputOptions) {
        self.init(json: options.json, clock: options.timestamps ? { .now } : nil)
    }

    /// Creates a printer.
    ///
    /// `write` is called with each line; `nil` to write to standard output. `clock` returns the time for timestamps;
    /// `nil` for none.
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
            write(Self.line(of: object))
        } else if !fact.text.isEmpty {
            let stamp = clock.map { (fact.time ?? $0()).rfc3339 + "  " } ?? ""
            write((stamp + fact.text).printableLines)
        }
    }

    /// Prints the column titles for the facts that follow.
    ///
    /// JSON output has no titles.
    func heading(_ columns: String) {
        guard !json else { return }
        let stamp = clock.map { "TIME".padded(to: $0().rfc3339.count + 2) } ?? ""
        write((stamp + columns).bold(usesColor))
    }

    /// Writes a sentence for users to standard error, so that standard output contains only facts.
    func remark(_ text: String) { try? StandardStream.error.write(line: text) }

    /// Returns a JSON object or array as one line.
    static func line(of object: Any) -> String {
        let options: JSONSerialization.WritingOptions = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? JSONSerialization.data(withJSONObject: object, options: options) else {
            preconditionFailure("a fact contains only values that JSON can represent: \(object)")
        }
        return String(decoding: data, as: UTF8.self).printableJSON
    }
}

extension String {
    /// Returns the text in bold if `on`, otherwise unchanged.
    func bold(_ on: Bool) -> String { emphasized(.bold, on) }
    /// Returns the text in faint type if `on`, otherwise unchanged.
    func faint(_ on: Bool) -> String { emphasized(.faint, on) }

    /// Returns the text with `emphasis` if `on`, otherwise unchanged.
    func emphasized(_ emphasis: Emphasis, _ on: Bool) -> String {
        on ? emphasis.rawValue + self + Emphasis.none.rawValue : self
    }

    /// Returns the text, padded with spaces at the end to a length of `width` characters.
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
