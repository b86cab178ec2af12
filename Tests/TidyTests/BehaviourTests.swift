import Foundation
import Testing

/// The statements about what the facade does, and the tests that show it: `docs/BEHAVIOUR.md`.
///
/// The statements are written by hand. The names of tests are filled in by
/// `BEHAVIOUR=write swift test --filter BehaviourTests`.
@Suite("List of behaviours")
struct BehaviourTests {
    /// One row of the document.
    private struct Statement {
        let line: Int
        let identifier: String
        let sentence: String
        /// What the document says of its tests: their names.
        let evidence: String

        init?(_ line: Int, _ text: Substring) {
            let cells = text.split(separator: "|", omittingEmptySubsequences: false)
                .map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count == 5, cells[1].first?.isNumber == true else { return nil }
            self.line = line
            (identifier, sentence, evidence) = (cells[1], cells[2], cells[3])
        }

        func row(_ evidence: String) -> String { "| \(identifier) | \(sentence) | \(evidence) |" }
    }

    private static let path = "docs/BEHAVIOUR.md"
    private let lines: [Substring]
    private let statements: [Statement]
    /// The names of the tests of each statement.
    private let tests: [String: [String]]

    init() throws {
        let document = try #require(SourceFile.all.first { $0.path == Self.path })
        lines = document.lines
        statements = document.lines.enumerated().compactMap { Statement($0.offset, $0.element) }
        tests = SourceFile.all.filter { $0.path.hasPrefix("Tests/") && !$0.path.hasPrefix("Tests/TidyTests/") }
            .reduce(into: [:]) { tests, file in
                for claim in file.behaviourClaims { tests[claim.statement, default: []].append(claim.test) }
            }
    }

    @Test("Each statement lists its tests, and has at least one")
    func complete() throws {
        let expected = statements.map { statement in
            (tests[statement.identifier] ?? []).map { "`\($0)`" }.sorted().joined(separator: " ")
        }
        if ProcessInfo.processInfo.environment["BEHAVIOUR"] == "write" {
            var lines = lines.map(String.init)
            for (statement, evidence) in zip(statements, expected) { lines[statement.line] = statement.row(evidence) }
            let file = SourceFile.root.appending(path: Self.path)
            return try lines.joined(separator: "\n").write(to: file, atomically: true, encoding: .utf8)
        }
        for (statement, evidence) in zip(statements, expected) where statement.evidence != evidence || evidence.isEmpty
        {
            Issue.record("\(statement.identifier): the document says '\(statement.evidence)', the tests '\(evidence)'")
        }
    }

    @Test("Each statement has a unique identifier, and is a sentence")
    func identifiers() {
        #expect(statements.count > 150)
        #expect(Set(statements.map(\.identifier)).count == statements.count)
        for statement in statements { #expect(statement.sentence.hasSuffix("."), "\(statement.identifier)") }
    }

    @Test("Every statement that a test names exists")
    func known() {
        let unknown = Set(tests.keys).subtracting(statements.map(\.identifier))
        #expect(unknown.isEmpty)
    }
}

extension SourceFile {
    /// The statements that tests of this file claim to show, each with the name of the test.
    fileprivate var behaviourClaims: [(statement: String, test: String)] {
        positions(of: [".", "behaviour", "("]).flatMap { start in
            let end = closing(start + 2)
            let suite = tokens[..<start].indices.last { index in
                ["struct", "class"].contains(tokens[index].text) && index > 0 && tokens[index - 1].text != "final"
                    && tokens[index + 1].text.hasSuffix("Tests")
            }
            let function = tokens[end...].firstIndex { $0.text == "func" }
            let name = [suite, function].compactMap { $0 }.map { tokens[$0 + 1].text }.joined(separator: ".")
            return tokens[start..<end].map(\.text).filter { $0.hasPrefix("\"") }.map {
                ($0.filter { $0 != "\"" }, name)
            }
        }
    }
}
