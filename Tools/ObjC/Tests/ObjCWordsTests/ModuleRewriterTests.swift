import Testing

@testable import ObjCWords

/// Rewrites one file, and returns the text for the compiler.
func rewritten(_ text: String) -> String {
    ModuleRewriter(files: [("/a.swift", text)]).rewrite()[0].text ?? text
}

@Suite("Objective-C words")
struct ModuleRewriterTests {
    @Test(
        "A word that has no meaning without Objective-C becomes blanks",
        arguments: [
            ("@objc class A {}", "      class A {}"),
            ("@objcMembers final class A {}", "             final class A {}"),
            ("@objc(Lamp)\nclass A {}", "           \nclass A {}"),
            (
                "class A { @objc(set:to:) func set(a: Int, b: Int) {} }",
                "class A {                func set(a: Int, b: Int) {} }"
            ),
            ("class A { @IBOutlet weak var b: B? }", "class A {           weak var b: B? }"),
            ("class A { @objc dynamic func b() {} }", "class A {               func b() {} }"),
            ("class A { @objc override dynamic var b: B { c } }", "class A {       override         var b: B { c } }"),
            ("class A { @nonobjc func b() {} }", "class A {          func b() {} }"),
            ("typealias A = @convention(block) () -> Void", "typealias A =                    () -> Void"),
            ("let a = #keyPath(Lamp.isOn)", "let a = \"isOn\"             "),
            ("let a = #keyPath(Lamp.shade.color)", "let a = \"shade.color\"             "),
        ]
    )
    func blanks(source: String, expected: String) {
        let result = rewritten(source)
        #expect(result == expected)
        #expect(result.utf8.count == source.utf8.count)
    }

    @Test(
        "Text that only looks like a word is kept",
        arguments: [
            "// @objc\nlet a = 1", "let a = \"@objc #selector(b)\"", "/* @IBOutlet */", "struct A { let dynamic = 1 }",
            "@available(*, deprecated) func a() {}", "@MainActor class A {}", "let a = \\A.b",
        ]
    )
    func kept(source: String) { #expect(ModuleRewriter(files: [("/a.swift", source)]).rewrite()[0].text == nil) }

    @Test("Lines keep their numbers and columns", arguments: ["\n", "\r\n"])
    func places(lineBreak: String) {
        let lines = [
            "@objc public class Lamp: NSObject {", "    /// ü", "    @objc lazy var isOn = false // @objc",
            "    let timer = Timer(target: self, selector: #selector(tick), repeats: true)",
            "    @objc dynamic func tick() {}",
            "}",
        ]
        let result = Array(rewritten(lines.joined(separator: lineBreak)).utf8).split(separator: 0x0A)
        for (line, before) in zip(result, lines) {
            for word in ["class", "var", "isOn", "//", "repeats", "func", "}"] {
                let column = Array(before.utf8).firstRange(of: Array(word.utf8))?.lowerBound
                #expect(Array(line).firstRange(of: Array(word.utf8))?.lowerBound == column, "\(word) in \(before)")
            }
        }
    }

    @Test("The report has the place and the outcome of each word")
    func findings() {
        let text = "@objc class A {\n  @objc func b() {}\n  let c = d.value(forKey: \"e\")\n}"
        let findings = ModuleRewriter(files: [("/a.swift", text)]).rewrite()[0].findings
        #expect(findings.map(\.word) == ["@objc", "@objc", "value(forKey:)"])
        #expect(findings.map(\.line) == [1, 2, 3])
        #expect(findings.map(\.column) == [1, 3, 11])
        #expect(findings.map { $0.outcome == .rewritten } == [true, true, false])
    }
}
