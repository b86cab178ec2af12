/// Decides which characters of a text may be shown on a terminal as they are.
///
/// Names, values and error messages come from peers, files and daemons. Some characters in them would change how the
/// text around them is shown, or be invisible:
///
/// | characters | what they would do |
/// | --- | --- |
/// | controls (Cc) | move the cursor, erase what was printed |
/// | format characters (Cf), including joiners | reverse the following text, or make different names look the same |
/// | other characters that are shown as nothing | the same |
/// | line and paragraph separators (Zl, Zp) | begin a line |
/// | marks (Mn, Mc, Me) without a letter, and more than six on one | change the character, or the lines, beside them |
///
/// Text for people has U+FFFD in their place, JSON an escape. All text that a program prints to a terminal, logs, or
/// puts into a story passes here once more where it leaves the program, so that nothing can be forgotten.
///
/// Unicode Standard, 4.5 and 5.21.
struct PrintableText {
    private static let mostMarks = 6

    /// How many marks may still follow.
    private var marks = 0

    /// Takes the next character; `false` if it must not be shown.
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

/// How a terminal emphasizes what follows.
package enum Emphasis: String, CaseIterable {
    case bold = "\u{1B}[1m"
    case faint = "\u{1B}[2m"
    case none = "\u{1B}[0m"
}

extension StringProtocol {
    /// The text, with U+FFFD in place of each character that a terminal must not be given.
    package var printable: String { screened { _ in "\u{FFFD}" } }

    /// The text of a whole output: as ``printable``, except that line feeds and ``Emphasis`` stay.
    package var printableLines: String { screened(keepsLines: true, keepsEmphasis: true) { _ in "\u{FFFD}" } }

    /// JSON text, with an escape in place of each character that a terminal must not be given.
    ///
    /// Line feeds stay: in JSON they are never part of a string.
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
