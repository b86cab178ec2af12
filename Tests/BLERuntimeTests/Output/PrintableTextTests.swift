import BLERuntime
import Foundation
import Glibc
import Logging
import Testing

@Suite("Printable text")
struct PrintableTextTests {
    static let texts: [(text: String, shown: String)] = [
        ("Lamp", "Lamp"), ("", ""), ("Küche 💡", "Küche 💡"), ("מנורה", "מנורה"), ("燈", "燈"),
        ("a\u{1B}[2Jb", "a\u{FFFD}[2Jb"), ("a\nb\tc\u{7F}\u{9B}d", "a\u{FFFD}b\u{FFFD}c\u{FFFD}\u{FFFD}d"),
        ("a\r\nb", "a\u{FFFD}\u{FFFD}b"),
        ("Lamp\u{202E}gnp", "Lamp\u{FFFD}gnp"), ("\u{2066}a\u{2069}", "\u{FFFD}a\u{FFFD}"),
        ("La\u{200B}mp\u{200D}\u{AD}", "La\u{FFFD}mp\u{FFFD}\u{FFFD}"), ("\u{FEFF}x\u{E0041}", "\u{FFFD}x\u{FFFD}"),
        ("a\u{2028}b\u{2029}c", "a\u{FFFD}b\u{FFFD}c"), ("\u{3164}\u{115F}", "\u{FFFD}\u{FFFD}"),
        ("e\u{301}", "e\u{301}"), ("\u{301}e", "\u{FFFD}e"), ("a \u{20DD}", "a \u{FFFD}"), ("“\u{301}”", "“\u{FFFD}”"),
        ("❤\u{FE0F}", "❤\u{FE0F}"), ("a\u{34F}", "a\u{FFFD}"),
        (
            "a" + String(repeating: "\u{301}", count: 9),
            "a" + String(repeating: "\u{301}", count: 6) + "\u{FFFD}\u{FFFD}\u{FFFD}"
        ),
    ]

    @Test("Only characters that affect how other text is displayed are replaced", arguments: texts)
    func replaced(text: String, shown: String) {
        #expect(text.printable.unicodeScalars.elementsEqual(shown.unicodeScalars), "\(text.printable)")
        #expect(text.printable.printable.unicodeScalars.elementsEqual(shown.unicodeScalars))
    }

    /// All characters of the categories that no terminal is given.
    private static var refused: [Unicode.Scalar] {
        (UInt32(0)...0x10_FFFF).compactMap(Unicode.Scalar.init).filter {
            switch $0.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: true
            default: false
            }
        }
    }

    @Test("Text and JSON contain no control characters, format characters or line separators")
    func categories() throws {
        #expect(Self.refused.count > 200)
        for scalar in Self.refused {
            let text = "a" + String(scalar) + "b"
            #expect(text.printable == "a\u{FFFD}b")
            let json = String(decoding: try JSONEncoder().encode([text]), as: UTF8.self).printableJSON
            #expect(json.utf8.allSatisfy { 0x20...0x7E ~= $0 }, "\(scalar.value)")
            let read = try JSONDecoder().decode([String].self, from: Data(json.utf8))
            #expect(read.map { Array($0.unicodeScalars) } == [Array(text.unicodeScalars)])
        }
    }

    @Test("JSON keeps its lines and all other characters, and escapes combining marks without a base letter")
    func json() throws {
        let texts = ["Küche 💡", "\u{301}x", "\u{E0041}", "e\u{301}"]
        let encoder = JSONEncoder()
        encoder.outputFormatting = .prettyPrinted
        let json = String(decoding: try encoder.encode(texts), as: UTF8.self).printableJSON
        #expect(json.split(separator: "\n").count == 6)
        #expect(json.contains("Küche 💡") && json.contains(#""\u0301x""#) && json.contains(#""\udb40\udc41""#))
        let read = try JSONDecoder().decode([String].self, from: Data(json.utf8))
        #expect(read.map { Array($0.unicodeScalars) } == texts.map { Array($0.unicodeScalars) })
    }

    @Test("Output keeps its lines and emphasis, but no other escape sequence")
    func lines() {
        let bold = Emphasis.bold.rawValue + "Lamp\u{202E}" + Emphasis.none.rawValue + "\n\n\u{1B}[2J\u{1B}[1"
        let shown = "\u{1B}[1mLamp\u{FFFD}\u{1B}[0m\n\n\u{FFFD}[2J\u{FFFD}[1"
        #expect(bold.printableLines == shown)
        #expect("a\r\nb".printableLines.unicodeScalars.elementsEqual("a\u{FFFD}\nb".unicodeScalars))
    }

    @Test("A line written to a stream contains nothing harmful to a terminal")
    func stream() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            try StandardStream.output.write(line: "Lamp\u{202E}\u{1B}]0;x\u{7}\nDoor")
        }
        let written = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
        #expect(written.hasSuffix("Lamp\u{FFFD}\u{FFFD}]0;x\u{FFFD}\nDoor\n"), "\(written)")
    }

    @Test("A log line contains nothing harmful to a terminal")
    func log() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            Logger.coreBluetooth.error("“Lamp\u{202E}\n” is gone")
        }
        let written = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(written.contains("“Lamp\u{FFFD}\u{FFFD}” is gone"), "\(written)")
    }
}
