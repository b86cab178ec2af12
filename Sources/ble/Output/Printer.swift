import BLERuntime
import Foundation

/// One thing that happened or was found out: a line for a person, or a JSON object for a script.
struct Fact {
    /// The value of `"event"` in JSON.
    let event: String
    /// The rest of the JSON object: strings, numbers, booleans, arrays and dictionaries of them.
    let fields: [String: Any]
    /// What a person reads; nothing is printed for an empty one.
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

/// Prints facts to standard output as they become known.
@MainActor
final class Printer {
    private let json: Bool
    /// The clock that tells when facts are printed, if that is printed.
    private let clock: (() -> Timestamp)?

    /// The device that all facts are about that do not name another one.
    var device: (@MainActor () -> DeviceKeys)?

    /// Whether people read what is printed, and not a script.
    var isForPeople: Bool { !json }

    /// Whether each line for people begins with the time.
    var showsTime: Bool { !json && clock != nil }

    /// Colour is for people at a terminal who did not say no to it.
    let usesColor: Bool

    private let write: (String) -> Void

    /// Creates a printer as its user has asked for.
    convenience init(_ options: OutputOptions) {
        self.init(json: options.json, clock: options.timestamps ? { .now } : nil)
    }

    /// Creates a printer; `write` takes a line, instead of standard output, and `clock` tells the time of each fact, if
    /// facts are to have one.
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
    /// The text in a terminal's bold, or as it is.
    func bold(_ on: Bool) -> String { emphasized(.bold, on) }
    /// The text in a terminal's faint, or as it is.
    func faint(_ on: Bool) -> String { emphasized(.faint, on) }

    private func emphasized(_ emphasis: Emphasis, _ on: Bool) -> String {
        on ? emphasis.rawValue + self + Emphasis.none.rawValue : self
    }

    /// The text with blanks behind it, at least `width` characters long.
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
