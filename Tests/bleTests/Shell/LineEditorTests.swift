import Testing

@testable import ble

@Suite("Editing a line")
struct LineEditorTests {
    private static let up = "\u{1B}[A", down = "\u{1B}[B", right = "\u{1B}[C", left = "\u{1B}[D"

    /// Returns the events of keys other than ``LineEditor/OnOctet/edit``, and the editor after them.
    private static func type(_ text: String, candidates: [String] = []) -> (LineEditor, [LineEditor.OnOctet]) {
        var editor = LineEditor(), events: [LineEditor.OnOctet] = []
        for octet in text.utf8 {
            let event = editor.take(octet) { line in
                let word = line.split(separator: " ", omittingEmptySubsequences: false).last ?? ""
                return .init(replaced: word.count, candidates: candidates.filter { $0.hasPrefix(word) })
            }
            if event != .edit { events.append(event) }
        }
        return (editor, events)
    }

    @Test(
        "Keys change the line",
        arguments: [
            ("read", "read"), ("rx\u{7F}ead", "read"), ("\u{7F}\u{8}a", "a"), ("ead\u{1}r", "read"),
            ("ea\(left)\(left)r\(right)\(right)\(right)d", "read"), ("\u{1B}OD\u{1B}OCa", "a"),
            ("xread\u{1}\u{4}", "read"), ("xread\u{1B}[H\u{1B}[3~", "read"), ("rea\u{1B}[1~\u{1B}[4~d", "read"),
            ("read 2A19\u{17}", "read "), ("read 2A19 \u{17}", "read "), ("read\u{15}", ""),
            ("abc\u{1}\u{6}\u{B}", "a"),
            ("abc\u{2}\u{2}\u{5}d", "abcd"), ("Té°C\u{7F}", "Té°"), ("😀\u{7F}x", "x"),
            ("\u{1B}[99999999999999999999~a", "a"),
            ("\u{1B}xa", "a"), ("\u{0}\u{1F}a", "a"),
        ]
    )
    func edits(keys: String, line: String) {
        let (editor, events) = Self.type(keys)
        #expect(editor.text == line && events.isEmpty)
    }

    @Test("Octets that are not UTF-8 are ignored")
    func malformed() {
        var editor = LineEditor()
        for octet in [0xC3, 0x28, 0xFF, 0x80, 0xE2, 0x82, 0x61, 0xC0, 0xF4, 0x90, 0x80, 0x80, 0x62] as [UInt8] {
            _ = editor.take(octet) { _ in .init(replaced: 0, candidates: []) }
        }
        #expect(editor.text == "(ab")
    }

    @Test(
        "Keys end or drop the line",
        arguments: [
            ("read\r", [.enter("read")]), ("\n", [.enter("")]), ("read\u{3}a\r", [.cancel, .enter("a")]),
            ("\u{4}", [.end]), ("a\u{4}\r", [.enter("a")]), ("a\u{C}\r", [.clear, .enter("a")]),
        ] as [(String, [LineEditor.OnOctet])]
    )
    func events(keys: String, events: [LineEditor.OnOctet]) {
        #expect(Self.type(keys).1 == events)
    }

    @Test(
        "The history is recalled, and the line that was being written comes back",
        arguments: [
            ("one\rtwo\r\(up)", "two"), ("one\rtwo\r\(up)\(up)", "one"), ("one\r\(up)\(up)\(up)", "one"),
            ("one\rtwo\r\(up)\(up)\(down)", "two"), ("one\rth\(up)\(down)", "th"), ("one\rone\r\(up)\(up)", "one"),
            ("one\r\(up)x\r\(up)", "onex"), ("one\rtwo\r\u{10}\u{10}\u{E}", "two"), ("\(down)a", "a"),
            ("one\r\rtwo\r\(up)\(up)", "one"),
        ]
    )
    func history(keys: String, line: String) { #expect(Self.type(keys).0.text == line) }

    @Test(
        "Tab inserts what all completions have in common, and lists them if that is nothing",
        arguments: [
            ("co\t", ["connect", "disconnect"], "connect ", nil), ("s\t", ["scan", "stop"], "s", ["scan", "stop"]),
            ("un\t", ["unpair", "unsubscribe"], "un", ["unpair", "unsubscribe"]),
            ("2\t", ["2A19", "2A1C"], "2A1", nil), ("x\t", ["2A19"], "x", nil), ("\t", [], "", nil),
            ("read 2A19\t", ["2A19"], "read 2A19 ", nil), ("read 2 x\(left)\(left)\t", ["2A19"], "read 2A19  x", nil),
        ] as [(String, [String], String, [String]?)]
    )
    func completes(keys: String, candidates: [String], line: String, listed: [String]?) {
        let (editor, events) = Self.type(keys, candidates: candidates)
        #expect(editor.text == line)
        #expect(events == (listed.map { [.list($0)] } ?? []))
    }

    @Test("A line is shown around the cursor, as far as the terminal is wide enough")
    func shows() {
        let (editor, _) = Self.type("read\(Self.left)\(Self.left)")
        #expect(editor.rendered(after: "> ", columns: 80) == "\r> read\u{1B}[K\u{1B}[2D")
        let long = Self.type(String(repeating: "a", count: 50) + "b").0
        #expect(long.rendered(after: "> ", columns: 13) == "\r> aaaaaaaaab\u{1B}[K")
        #expect(Self.type("").0.rendered(after: "> ", columns: 0) == "\r> \u{1B}[K")
    }

    @Test("A character that is unsafe on a terminal is shown as U+FFFD, and keeps its column")
    func unsafe() {
        let (editor, _) = Self.type("La\t\u{9B}é\(Self.left)", candidates: ["La\u{1B}[2Jmp"])
        let shown = editor.rendered(after: "> ", columns: 80)
        #expect(shown == "\r> La\u{FFFD}[2Jmp \u{FFFD}é\u{1B}[K\u{1B}[1D")
    }

    @Test("A line has a maximum length")
    func limit() { #expect(Self.type(String(repeating: "a", count: 5_000)).0.text.count == 4_096) }
}
