import Testing

@testable import ObjCWords

@Suite("Overrides in extensions")
struct OverrideTests {
    @Test("An override moves into its class, and keeps its line for the compiler")
    func moved() {
        let files = [
            ("/a.swift", "public class A: NSObject {\n    let b = 1\n}\nlet c = 2"),
            (
                "/b.swift",
                "public extension A {\n    @objc override var description: String { \"A\" }\n    func d() {}\n}"
            ),
        ]
        let result = ModuleRewriter(files: files).rewrite()
        #expect(
            result[0].text == """
                public class A: NSObject {
                    let b = 1

                #sourceLocation(file: "/b.swift", line: 2)
                public       override var description: String { "A" }
                #sourceLocation(file: "/a.swift", line: 3)
                }
                let c = 2
                """
        )
        let second = result[1].text?.split(separator: "\n") ?? []
        #expect(second.count == 4)
        #expect(second[1].allSatisfy { $0 == " " })
        #expect(second[2] == "    func d() {}")
    }

    @Test(
        "An override that cannot move is left, and reported",
        arguments: [
            "extension NSObject { override var description: String { \"\" } }",
            "class A {}\nextension A { override func b() { c(#selector(d)) } }",
            "class A<T> {}\nextension A { override func b() {} }",
        ]
    )
    func left(source: String) {
        let file = ModuleRewriter(files: [("/a.swift", source)]).rewrite()[0]
        #expect(file.findings.contains { $0.word == "override" && $0.outcome != .rewritten })
        #expect(file.text?.contains("override") ?? true)
    }

    @Test("An override within #if moves with its condition")
    func condition() {
        let result = rewritten("class A {\n}\n#if DEBUG\nextension A {\n  override func b() {}\n}\n#endif")
        #expect(
            result.contains(
                "#if (DEBUG)\n#sourceLocation(file: \"/a.swift\", line: 5)\n  override func b() {}\n#endif\n"
            )
        )
    }
}
