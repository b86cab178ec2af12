import Testing

@testable import ObjCWords

@Suite("Observations")
struct ObservationTests {
    private static let call = "_keyValueDidChange(self,\"b\",oldValue)"

    /// The property that a property `b` gets, with its access.
    private static func key(_ access: String = "") -> String {
        ";nonisolated \(access)var _key_b:_ObservableKey{_ObservableKey(\"b\")}"
    }

    @Test(
        "A dynamic property reports its changes",
        arguments: [
            ("var b = 1", "var b = 1 {didSet{\(call)}}\(key())"),
            ("open internal(set) var b = 1", "open internal(set) var b = 1 {didSet{\(call)}}\(key("public "))"),
            ("private weak var b: B?", "private weak var b: B? {didSet{\(call)}}\(key("private "))"),
            ("var b: Int { 1 }", "var b: Int { 1 }\(key())"),
            ("var `b` = 1", "var `b` = 1 {didSet{\(call)}}\(key())"),
            ("var b = 1 { didSet { c() } }", "var b = 1 { didSet {defer{\(call)}; c() } }\(key())"),
            (
                "var b = 1 { didSet(old) { c() } }",
                "var b = 1 { didSet(old) {defer{_keyValueDidChange(self,\"b\",old)}; c() } }\(key())"
            ),
            ("var b = 1 { willSet { c() } }", "var b = 1 { didSet{\(call)} willSet { c() } }\(key())"),
            (
                "var b: Int { get { c } set { c = newValue } }",
                """
                var b: Int { get { c } set {let _old=self.b;defer{_keyValueDidChange(self,"b",_old)}; \
                c = newValue } }\(key())
                """
            ),
        ]
    )
    func properties(source: String, expected: String) {
        #expect(rewritten("class A: C { dynamic \(source) }") == "class A: C {         \(expected) }")
    }

    @Test("An override and a property of the class report no changes", arguments: ["override", "static", "class"])
    func quiet(modifier: String) {
        #expect(rewritten("class A { dynamic \(modifier) var b = 1 }") == "class A {         \(modifier) var b = 1 }")
    }

    @Test(
        "An observation names the property",
        arguments: [
            ("a.observe(\\.b) { }", "a.observe(\\._key_b,\\.b) { }"),
            ("a?.observe(\\A.b, options: []) { }", "a?.observe(\\._key_b,\\A.b, options: []) { }"),
            ("observe(\\.b) { }", "observe(\\._key_b,\\.b) { }"),
            ("a.publisher(for: \\.b)", "a.publisher(for: \\._key_b,\\.b)"),
            ("observe(\\.a?.b) { }", "observe(a,\\._key_b,\\.b) { }"),
            ("self.observe(\\.a.b, c)", "self.observe(a,\\._key_b,\\.b, c)"),
            ("observe(\\A.a!.b)", "observe(a!,\\._key_b,\\.b)"),
        ]
    )
    func observations(source: String, expected: String) { #expect(rewritten(source) == expected) }

    @Test(
        "What cannot be observed is left, and reported",
        arguments: [
            ("a.observe(\\.b.c) { }", "observe"), ("observe(\\.b.c.d) { }", "observe"),
            ("a.publisher(for: \\.b?.c)", "publisher"),
            ("a.addObserver(b, forKeyPath: c, options: [], context: nil)", "addObserver"),
            ("class A { dynamic var b = 1, c = 2 }", "dynamic"),
        ]
    )
    func left(source: String, word: String) {
        let file = ModuleRewriter(files: [("/a.swift", source)]).rewrite()[0]
        #expect(file.findings.contains { $0.word == word && $0.outcome != .rewritten })
        #expect(file.text?.contains("_key") != true)
    }

    @Test("A module that declares the method itself keeps its calls")
    func ownMethods() {
        let source = "class A { func observe(_ b: B) {} }\nlet c = d.observe(\\.e)"
        #expect(rewritten(source) == source)
    }
}
