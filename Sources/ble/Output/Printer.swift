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

    init(_ event: String, _ fields: [String: Any] = [:], text: String) {
        self.event = event
        self.fields = fields
        self.text = text
    }
}

/// Prints facts to standard output as they become known.
@MainActor
final class Printer {
    private let json: Bool
    /// What the time is, if it is to be said.
    private let clock: (() -> Date)?

    /// Whether people read what is printed, and not a script.
    var isForPeople: Bool { !json }

    /// Colour is for people at a terminal who did not say no to it.
    let usesColor: Bool

    private let write: (String) -> Void

    /// Creates a printer as its user has asked for.
    convenience init(_ options: OutputOptions) {
        self.init(json: options.json, clock: options.timestamps ? { Date() } : nil)
    }

    /// Creates a printer; `write` takes a line, instead of standard output, and `clock` tells the time of each fact, if
    /// facts are to have one.
    init(json: Bool, write: ((String) -> Void)? = nil, clock: (() -> Date)? = nil) {
        self.json = json
        self.clock = clock
        self.write = write ?? { StandardOutput.write(line: $0) }
        usesColor = !json && isatty(1) != 0 && ProcessInfo.processInfo.environment["NO_COLOR"] == nil
    }

    func print(_ fact: Fact) {
        let stamp = clock.map { $0().formatted(Self.stampFormat) }
        if json {
            var object = fact.fields
            object["event"] = fact.event
            if let stamp { object["time"] = stamp }
            printObject(object)
        } else if !fact.text.isEmpty {
            write(((stamp.map { "\($0)  " } ?? "") + fact.text).printableLines)
        }
    }

    /// Prints the titles of columns above facts; only people read them.
    func heading(_ columns: String) {
        guard !json else { return }
        let stamp = clock.map { "TIME".padded(to: $0().formatted(Self.stampFormat).count + 2) } ?? ""
        write((stamp + columns).bold(usesColor))
    }

    private static let stampFormat = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

    /// Says something that only people want to read, if they do; goes to standard error, so that pipes stay clean.
    func remark(_ text: String) {
        guard !json else { return }
        try? StandardStream.error.write(line: text)
    }

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
