import Foundation
import Testing

@Suite("Tutorials")
struct TutorialsTests {
    /// A row of a table in docs/TUTORIALS.md.
    private struct Row {
        let number: Int
        let swift: String
        /// The path of the file, below the root of the package.
        let file: String
        let suite: String
        let test: String

        init?(_ line: Substring) {
            let pattern =
                #/
                \|\ (?<number>\d+)\ \|\ `.+?`\ \|\ `(?<swift>.+?)`
                \ \|\ \[.+?\]\(\.\./(?<file>.+?)\).*?
                \ \|\ `(?<suite>\w+)\.(?<test>\w+)`\ \|
                /#
            guard let match = line.wholeMatch(of: pattern), let number = Int(match.number) else { return nil }
            self.number = number
            swift = String(match.swift)
            file = String(match.file)
            suite = String(match.suite)
            test = String(match.test)
        }
    }

    private static let rows = SourceFile.all.first { $0.path == "docs/TUTORIALS.md" }?.lines.compactMap(Row.init) ?? []

    @Test("Every listing of the five tutorials has a row, in order")
    func complete() {
        let expected = [19, 9, 18, 3, 4].flatMap { Array(1...$0) }
        #expect(Self.rows.map(\.number) == expected)
    }

    @Test("The Swift of every row is in the file that it names, and its test exists")
    func present() {
        let texts = Dictionary(uniqueKeysWithValues: SourceFile.all.map { ($0.path, $0.text) })
        for row in Self.rows {
            #expect(texts[row.file]?.contains(row.swift) == true, "\(row.file): \(row.swift)")
            let test = texts["Examples/Tests/ExamplesTests/\(row.suite).swift"]
            #expect(test?.contains("func \(row.test)(") == true, "\(row.suite).\(row.test)")
        }
    }
}
