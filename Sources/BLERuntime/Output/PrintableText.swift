import Logging

/// A filter that decides which characters of a text are safe to show on a terminal.
///
/// Names, values and error messages come from peers, files and daemons. Some of their characters would be invisible, or
/// change how the text around them appears:
///
/// | characters | effect on a terminal |
/// | --- | --- |
/// | controls (Cc) | move the cursor, erase printed text |
/// | format characters (Cf), including joiners | reverse the following text, or make different names look the same |
/// | other invisible characters | make different names look the same |
/// | line and paragraph separators (Zl, Zp) | start a new line |
/// | marks (Mn, Mc, Me) without a letter, and more than six on one | change the characters or lines beside them |
///
/// In text for users, U+FFFD replaces such a character; in JSON, an escape does. Everything that a program prints on a
/// terminal, logs, or writes into the report of a simulation passes this filter again where it leaves the program, so
/// that no text is forgotten.
///
/// Unicode Standard, 4.5 and 5.21.
struct PrintableText {
    private static let mostMarks = 6

    /// The number of further marks that may be shown on the last character.
    private var marks = 0

    /// Processes the next character; returns false if it must not be shown.
    mutating func shows(_ scalar: Unicode.Scalar) -> Bool {
        let properties = scalar.properties
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate:
            marks = 0
            return false
        case .nonspacingMark, .spacingMark, .enclosingMark:
            guard marks > 0, properties.isVariationSelector || !properties.isDefaultIgnorableCodePoint else {
                return false
            }
            marks -= 1
            return true
        case .spaceSeparator, .initialPunctuation, .finalPunctuation:
            marks = 0
            return true
        default:
            guard !properties.isDefaultIgnorableCodePoint else {
                marks = 0
                return false
            }
            marks = scalar == "\"" || scalar == "'" ? 0 : Self.mostMarks
            return true
        }
    }
}

/// The terminal codes that change how the following text looks.
package enum Emphasis: String, CaseIterable {
    case bold = "\u{1B}[1m"
    case faint = "\u{1B}[2m"
    case red = "\u{1B}[31m"
    case green = "\u{1B}[32m"
    case yellow = "\u{1B}[33m"
    case cyan = "\u{1B}[36m"
    case none = "\u{1B}[0m"
}

extension StringProtocol {
    /// The text, with U+FFFD in place of each character that is unsafe on a terminal.
    package var printable: String { screened { _ in "\u{FFFD}" } }

    /// The text, which may have several lines: like ``printable``, but with line feeds and ``Emphasis`` preserved.
    package var printableLines: String { screened(keepsLines: true, keepsEmphasis: true) { _ in "\u{FFFD}" } }

    /// JSON text, with an escape in place of each character that is unsafe on a terminal.
    ///
    /// Line feeds are preserved, because in JSON they are never part of a string.
    package var printableJSON: String {
        screened(keepsLines: true) { scalar in
            UTF16.encode(scalar).map { units in
                units.reduce(into: "") { text, unit in
                    let digits = String(unit, radix: 16)
                    text += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
                }
            } ?? ""
        }
    }

    private func screened(
        keepsLines: Bool = false,
        keepsEmphasis: Bool = false,
        _ replacement: (Unicode.Scalar) -> String
    ) -> String {
        guard !utf8.allSatisfy({ 0x20...0x7E ~= $0 }) else { return String(self) }
        var screen = PrintableText(), text = "", rest = Substring(self).unicodeScalars
        while let scalar = rest.first {
            if keepsEmphasis, let emphasis = Emphasis.allCases.first(where: { rest.starts(with: $0.scalars) }) {
                text += emphasis.rawValue
                rest.removeFirst(emphasis.scalars.count)
                screen = PrintableText()
                continue
            }
            rest.removeFirst()
            if keepsLines, scalar == "\n" {
                screen = PrintableText()
                text.unicodeScalars.append(scalar)
            } else if screen.shows(scalar) {
                text.unicodeScalars.append(scalar)
            } else {
                text += replacement(scalar)
            }
        }
        return text
    }
}

extension Emphasis {
    fileprivate var scalars: String.UnicodeScalarView { rawValue.unicodeScalars }
}

/// A log handler that passes messages on after it has replaced characters that are unsafe on a terminal
/// (``PrintableText``).
struct PrintableLog: LogHandler {
    private var base: any LogHandler

    /// Creates a handler that passes messages on to another one.
    init(_ base: any LogHandler) { self.base = base }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { base[metadataKey: key] }
        set { base[metadataKey: key] = newValue }
    }

    var metadata: Logger.Metadata {
        get { base.metadata }
        set { base.metadata = newValue }
    }

    var metadataProvider: Logger.MetadataProvider? {
        get { base.metadataProvider }
        set { base.metadataProvider = newValue }
    }

    var logLevel: Logger.Level {
        get { base.logLevel }
        set { base.logLevel = newValue }
    }

    func log(event: LogEvent) {
        var event = event
        event.message = "\(event.message.description.printable)"
        base.log(event: event)
    }
}

extension BinaryInteger {
    /// Returns the number with a noun, such as "1 packet" or "3 packets".
    ///
    /// - Parameter noun: A noun in the singular, with a plural that ends in "s".
    /// - Returns: The number and the noun, which is in the plural unless the number is 1.
    package func withNoun(_ noun: String) -> String { "\(self) \(noun)\(self == 1 ? "" : "s")" }
}

extension String? {
    /// The text after a space, to follow another sentence; empty if there is no text.
    package var asNextSentence: String { map { " " + $0 } ?? "" }
}
