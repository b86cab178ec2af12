import Testing

@testable import ObjCWords

@Suite("Selectors")
struct SelectorTests {
    @Test(
        "A selector becomes the name of a property that is not longer",
        arguments: [
            ("class A { func b() { c(#selector(tick)) }\n func tick() {} }", "A.tick", "tick"),
            ("class A { func b() { c(#selector(tick(_:))) }\n func tick(_ d: D) {} }", "A.tick(_:)", "tick:"),
            ("class A { func b() { c(#selector(self.tick)) }\n func tick(_ d: D) {} }", "A.tick", "tick:"),
            ("class A { func b() { c(#selector(Self.tick)) } }", "A.tick", "tick"),
            ("class A { func b() { c(#selector(B.tick(of:))) } }", "B.tick(of:)", "tickOf:"),
            ("extension A.B { func b() { c(#selector(tick(_:in:))) } }", "A.B.tick(_:in:)", "tick:in:"),
            ("class A { func b() { c(#selector(B.d)) } }\nclass B { static func d() {} }", "classMethod: B.d", "d"),
            ("class A { func b() { c(#selector(tick)) }\n @objc(t) func tick() {} }", "A.tick", "t"),
        ]
    )
    func property(source: String, method: String, name: String) {
        let result = rewritten(source), lines = result.split(separator: "\n")
        #expect(lines[0].utf8.count == source.split(separator: "\n")[0].utf8.count)
        #expect(lines[0].contains("c(_selector1 "))
        #expect(result.contains("{ Selector(\"\(name)\", \(method)) }"))
        #expect(result.contains("#sourceLocation(file: \"/a.swift\", line: 1)"))
    }

    @Test(
        "Where an extension cannot name the type, the selector is made in place",
        arguments: [
            "func a() { class A { func b() { c(#selector(tick)) } } }",
            "class A<T> { func b() { c(#selector(tick)) } }",
            "enum E { private class A { func b() { c(#selector(tick)) } } }",
        ]
    )
    func inPlace(source: String) {
        let result = rewritten(source)
        #expect(result.contains("c(Selector(\"tick\", "))
        #expect(!result.contains("_selector"))
    }

    @Test(
        "A selector of something else than a method is left, and reported",
        arguments: [
            "class A { let b = #selector(getter: c) }", "let b = #selector(c)", "class A { let b = #selector(c.d) }",
        ]
    )
    func left(source: String) {
        let file = ModuleRewriter(files: [("/a.swift", source)]).rewrite()[0]
        #expect(file.text == nil)
        #expect(file.findings.map(\.word) == ["#selector"])
        #expect(file.findings.first?.outcome != .rewritten)
    }

    @Test("The method of a selector in #if is only needed where the selector is")
    func conditions() {
        let source =
            "#if os(iOS)\nclass A { let b = #selector(c) }\n#elseif os(Linux)\nclass A { let b = #selector(d) }\n#endif"
        let result = rewritten(source)
        #expect(result.contains("#if (os(iOS))\nextension A {"))
        #expect(result.contains("#if !(os(iOS)) && (os(Linux))\nextension A {"))
        #expect(result.components(of: "#endif") == 3)
    }

    @Test(
        "A method has the name that Objective-C gives it",
        arguments: [
            ("tick", [], "tick"), ("tick", ["_"], "tick:"), ("tick", ["lamp"], "tickWithLamp:"),
            ("tick", ["for", "at"], "tickFor:at:"), ("tick", ["forLamp"], "tickForLamp:"),
            ("tick", ["form"], "tickWithForm:"), ("tick", ["_", "_"], "tick::"), ("`repeat`", [], "repeat"),
        ]
    )
    func names(base: String, labels: [String], expected: String) {
        #expect(selectorName(base: base, labels: labels) == expected)
    }
}

extension String {
    /// The number of times that the text contains a word.
    func components(of word: String) -> Int { ranges(of: word).count }
}
