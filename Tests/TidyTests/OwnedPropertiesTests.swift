import Testing

/// What a host consists of is changed by methods of its parts.
///
/// Where it is assigned, few files have to be read.
@Suite("Stored properties of types spread over several files")
struct OwnedPropertiesTests {
    static let types = ["Host", "AttributeLayer", "GATTClient"]

    @Test("A property is assigned in at most two files", arguments: types)
    func owners(type: String) throws {
        let files = SourceFile.all.filter { $0.path.hasPrefix("Sources/BLEHost/") && $0.subject == type }
        #expect(files.count > 5)
        let home = try #require(files.first { $0.path.hasSuffix("/\(type).swift") })
        let properties = home.properties(of: type)
        #expect(properties.count > 5)
        for property in properties {
            let owners = files.filter { $0.assigns(property) }.map(\.path)
            #expect(owners.count <= 2, "\(type).\(property)")
        }
    }

    @Test("Properties are recognized in a declaration")
    func properties() {
        let text = """
            package struct Host {
                let seed: UInt64
                package private(set) var links = Table<Link>(), phase: Phase
                private enum Phase { case idle }
                var deadline: Instant? { let x = 1; return nil }
                mutating func wake() { var local = 1 }
            }
            """
        let file = SourceFile(path: "Sources/BLEHost/Host.swift", text: text)
        #expect(file.properties(of: "Host") == ["links", "deadline"])
    }

    @Test(
        "Assignments are recognized by their operator",
        arguments: [
            ("links = []", true), ("self.links = []", true), ("links[3].phase = .up", true), ("links.count += 1", true),
            ("links.values[index(of: link)]?.phase = .up", true), ("if links == [] {}", false),
            ("if links <= other {}", false), ("links.update(3) { $0 = nil }", false), ("state.links = []", false),
            ("let links = links", false), ("var links = []", false), ("use(links: links)", false),
        ]
    )
    func assignments(text: String, isOne: Bool) {
        #expect(SourceFile(path: "Sources/BLEHost/Host+Links.swift", text: text).assigns("links") == isOne)
    }
}

extension SourceFile {
    /// The type whose file this is, or one of whose files.
    fileprivate var subject: String? {
        path.split(separator: "/").last?.split(separator: ".").first?.split(separator: "+").first.map(String.init)
    }

    /// The properties that a type declares in its own body and that are no constants.
    fileprivate func properties(of type: String) -> [String] {
        guard let start = positions(of: ["struct", type]).first,
            let brace = tokens[start...].firstIndex(where: { $0.text == "{" })
        else { return [] }
        var names: [String] = [], position = brace + 1
        while position < closing(brace) {
            if tokens[position].text == "{" { position = closing(position) }
            if tokens[position].text == "var" { names.append(tokens[position + 1].text) }
            position += 1
        }
        return names
    }

    /// Whether something is assigned to a property, or to a part of it.
    fileprivate func assigns(_ property: String) -> Bool {
        positions(of: [property]).contains { position in
            let before = tokens[..<position].suffix(2).map(\.text)
            if ["let", "var", "case"].contains(before.last) || before.last == "." && before.first != "self" {
                return false
            }
            return isAssignment(at: endOfPath(from: position + 1))
        }
    }

    /// Behind the members and elements that are named from `position` on.
    private func endOfPath(from position: Int) -> Int {
        var position = position
        while position < tokens.count {
            switch tokens[position].text {
            case "." where position + 1 < tokens.count: position += 2
            case "[" where tokens[position].isGlued: position = closing(position) + 1
            case "?" where tokens[position].isGlued, "!" where tokens[position].isGlued: position += 1
            default: return position
            }
        }
        return position
    }

    /// Whether `=`, or one with a sign of arithmetic before it, stands at `position`.
    private func isAssignment(at position: Int) -> Bool {
        guard position + 1 < tokens.count else { return false }
        let (first, second) = (tokens[position].text, tokens[position + 1])
        if first == "=" { return !(second.text == "=" && second.isGlued) }
        return ["+", "-", "*", "/", "|", "&", "^"].contains(first) && second.text == "=" && second.isGlued
    }
}
