import Testing

@testable import ObjCWords

@Suite("Protocols of Objective-C")
struct ProtocolTests {
    @Test(
        "A protocol is for classes only",
        arguments: [
            ("@objc protocol A {", "      protocol A: AnyObject {"),
            ("@objc protocol A: B {", "      protocol A: B, AnyObject {"),
            ("@objc public protocol A: NSObjectProtocol {", "      public protocol A: NSObjectProtocol {"),
            ("@objc protocol A: class {", "      protocol A: class {"),
            ("@objc(AA) protocol A: AnyObject {", "          protocol A: AnyObject {"),
            ("protocol A {", "protocol A {"),
        ]
    )
    func classes(line: String, expected: String) {
        #expect(rewritten(line + "\n  func b(_ c: C)\n}") == expected + "\n  func b(_ c: C)\n}")
    }

    @Test(
        "An optional method throws unless a class implements it",
        arguments: [
            (
                "@objc optional func b(_ c: C)", "               func b(_ c: C) throws",
                "func callAsFunction(_ c: C) -> Void? { try? object.b(c) }"
            ),
            (
                "@objc optional func b(_ c: Int, in d: D)", "               func b(_ c: Int, in d: D) throws",
                "func callAsFunction(_ c: Int, in d: D) -> Void? { try? object.b(c, in: d) }"
            ),
            (
                "optional func b(c: C) -> Int", "         func b(c: C) throws -> Int",
                "func callAsFunction(c: C) -> (Int)? { try? object.b(c: c) }"
            ),
            (
                "optional func b(_ c: C) -> [Int]?", "         func b(_ c: C) throws -> [Int]?",
                "func callAsFunction(_ c: C) -> ([Int])? { (try? object.b(c)) ?? nil }"
            ),
            (
                "optional func b(_ c: C) async -> Int", "         func b(_ c: C) async throws -> Int",
                "func callAsFunction(_ c: C) async -> (Int)? { try? await object.b(c) }"
            ),
        ]
    )
    func optional(member: String, requirement: String, call: String) {
        let result = rewritten("@objc public protocol A: AnyObject {\n\(member)\n}")
        let lines = result.split(separator: "\n")
        #expect(lines[1] == requirement[...])
        #expect(lines[2] == "}")
        #expect(result.contains(call))
        #expect(result.contains("public var b: _A_b? { _A_b(object: self) }"))
        #expect(result.contains("{ throw _A_b.NotImplemented() }"))
    }

    @Test("An optional method without parameters is called through an inherited value")
    func inherited() {
        let result = rewritten("@objc public protocol A: B {\n  @objc optional func c()\n}")
        let lines = result.split(separator: "\n")
        #expect(lines[0] == "      public protocol A: B, AnyObject, _A_Optional {")
        #expect(lines[1] == "                 func c() throws")
        #expect(
            result.contains("public protocol _A_Optional: AnyObject {}\nextension _A_Optional {\npublic var c: _A_c?")
        )
    }

    @Test("Methods with one base name are called through one value")
    func sameBase() {
        let result = rewritten(
            "@objc private protocol A {\n @objc optional func a(_ b: Int)\n @objc optional func a(_ b: Int, c: Int)\n}"
        )
        #expect(result.components(of: "fileprivate struct _A_a {") == 1)
        #expect(result.components(of: "func callAsFunction(") == 2)
        #expect(result.components(of: "fileprivate var a: _A_a?") == 1)
    }

    @Test("An optional property, and a test whether a method is implemented, are left and reported")
    func left() {
        let source = """
            @objc protocol A { @objc optional var b: Int { get }
              @objc optional func c() }
            func d(_ a: A) { if a.c != nil {}; if let e = a.c {}; a.c?() }
            """
        let findings = ModuleRewriter(files: [("/a.swift", source)]).rewrite()[0].findings
        let left = findings.filter { $0.outcome != .rewritten }
        #expect(left.map(\.word) == ["optional", "c", "c"])
        #expect(left.map(\.line) == [1, 3, 3])
    }
}
