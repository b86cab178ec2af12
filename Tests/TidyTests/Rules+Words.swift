import Testing

extension Rule {
    /// Rules for doc comments and documents.
    static let words: [Rule] = [
        Rule(
            "Doc comments and documents name the actor, in plain English",
            in: "Sources/BLEHost/Host.swift",
            applies: { ($0.hasPrefix("Sources/") && isSwift($0)) || isDocument($0) },
            caught: [
                "/// The app is told of it.", "    /// Whoever holds the lock.", "/// Starts anew.",
                "/// Waits in vain.",
                "/// Packets, of which some are lost.", "/// Called by nobody.", "/// What comes to nothing.",
            ],
            allowed: [
                "/// The results, each of which is kept.", "let nobody = 0", "/// `nobody` is a name.",
                "/// It is renewed.",
            ]
        ) { file in
            var isCode = false
            return file.findings { line in
                if line.hasPrefix("```") { isCode.toggle() }
                guard !isCode, let text = prose(of: line, in: file.path) else { return nil }
                return phrases.first { contains($0, in: text) }.map { "“\($0)”" }
            }
        }
    ]

    /// Phrases to avoid; STYLE.md has better ones.
    private static let phrases = [
        "is told of", "are told of", "whoever", "anew", "in vain", "comes to nothing", ", of which", "nobody",
        "somebody",
    ]

    /// The text of a line of a doc comment or a document, without code; `nil` for other lines.
    private static func prose(of line: Substring, in path: String) -> String? {
        let trimmed = line.drop { $0 == " " }
        if isSwift(path), !trimmed.hasPrefix("///") { return nil }
        let parts = trimmed.split(separator: "`", omittingEmptySubsequences: false)
        return parts.indices.filter { $0.isMultiple(of: 2) }.map { parts[$0] }.joined(separator: "`").lowercased()
    }

    private static func contains(_ phrase: String, in text: String) -> Bool {
        text.ranges(of: phrase).contains { range in
            let isStart = range.lowerBound == text.startIndex || !text[text.index(before: range.lowerBound)].isLetter
            let isEnd = range.upperBound == text.endIndex || !text[range.upperBound].isLetter
            return (isStart || phrase.hasPrefix(",")) && isEnd
        }
    }
}

/// Documents, except those that quote phrases to avoid.
@Sendable private func isDocument(_ path: String) -> Bool {
    path.hasSuffix(".md") && !["STYLE.md", "docs/GLOSSARY.md"].contains(path)
}

@Suite("Words of doc comments")
struct WordTests {
    /// The maximum share of doc comments that begin with a question word.
    private static let limit = 0.08

    private static let questions: Set = [
        "what", "how", "whether", "where", "when", "which", "why", "who", "whose", "whom",
    ]

    @Test("Few doc comments begin with a question word instead of a noun or a verb")
    func openings() {
        let comments = SourceFile.all.filter { $0.path.hasPrefix("Sources/") }.flatMap(Self.openings)
        let questions = comments.filter(Self.isQuestion)
        #expect(comments.count > 5_000)
        #expect(
            Double(questions.count) <= Self.limit * Double(comments.count),
            "\(questions.count) of \(comments.count)"
        )
    }

    @Test("The first lines of doc comments are recognized")
    func recognition() {
        let text = "/// What it is.\n/// More.\nlet a = 1\n\n    /// A number.\n    let b = 2\n// Why.\n"
        let found = Self.openings(of: SourceFile(path: "Sources/A.swift", text: text))
        #expect(found == ["What it is.", "A number."])
        #expect(found.map(Self.isQuestion) == [true, false])
    }

    /// The first line of each doc comment.
    private static func openings(of file: SourceFile) -> [String] {
        var isComment = false
        return file.lines.compactMap { line in
            let trimmed = line.drop { $0 == " " }, wasComment = isComment
            isComment = trimmed.hasPrefix("///")
            return isComment && !wasComment ? String(trimmed.dropFirst(3).drop { $0 == " " }) : nil
        }
    }

    private static func isQuestion(_ opening: String) -> Bool {
        questions.contains(opening.prefix { $0.isLetter }.lowercased())
    }
}
