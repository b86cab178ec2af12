import Foundation

/// A text file of the package.
struct SourceFile: Sendable {
    /// Where the file is, seen from the root of the package.
    let path: String
    let text: String
    let lines: [Substring]
    /// What the file says in Swift; empty for other languages.
    let tokens: [SwiftToken]
    private let places: [String: [Int]]

    init(path: String, text: String) {
        self.path = path
        self.text = text
        lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let tokens = path.hasSuffix(".swift") ? SwiftLexer.tokens(in: text) : []
        self.tokens = tokens
        places = Dictionary(grouping: tokens.indices) { tokens[$0].text }
    }

    /// The target that the file belongs to: the folder under `Sources`, `Tests` or `Benchmarks`.
    var target: Substring? {
        let parts = path.split(separator: "/")
        guard parts.count > 2, ["Sources", "Tests", "Benchmarks"].contains(parts[0]) else { return nil }
        return parts[1]
    }

    /// Where the tokens `pattern` stand one after the other; a `!` has to touch what is before it.
    func positions(of pattern: [String]) -> [Int] {
        guard let first = pattern.first else { return [] }
        return places[first, default: []].filter { start in
            tokens.count - start >= pattern.count
                && zip(tokens[start...], pattern).allSatisfy { $0.text == $1 && ($1 != "!" || $0.isGlued) }
        }
    }

    /// Where any of the tokens `texts` stands.
    func positions(ofAny texts: some Sequence<String>) -> [Int] {
        texts.flatMap { places[$0, default: []] }.sorted()
    }

    /// The position of the bracket that closes the one at `position`, or the end of the file.
    func closing(_ position: Int) -> Int {
        let pairs = ["(": ")", "[": "]", "{": "}"]
        var expected: [String] = []
        for index in position..<tokens.count {
            if let close = pairs[tokens[index].text] { expected.append(close) }
            if tokens[index].text == expected.last { expected.removeLast() }
            if expected.isEmpty { return index }
        }
        return tokens.count - 1
    }
}

extension SourceFile {
    /// The folder that holds `Package.swift`.
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// Every text file that is part of the package.
    static let all: [SourceFile] = {
        let folders = [
            "Sources", "Tests", "Benchmarks", "Examples", "Interop", "Tools/ObjC/Sources", "Tools/ObjC/Tests", "docs",
            ".ci", ".github",
        ]
        let paths = folders.flatMap(contents) + topLevelFiles
        return paths.sorted().compactMap { path in
            guard let text = try? String(contentsOf: root.appending(path: path), encoding: .utf8) else { return nil }
            return SourceFile(path: path, text: text)
        }
    }()

    private static var topLevelFiles: [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: root.path)) ?? []
        return names.filter { $0.hasSuffix(".md") || $0 == "Package.swift" }
    }

    private static func contents(of folder: String) -> [String] {
        let paths = FileManager.default.enumerator(atPath: root.appending(path: folder).path)
        return (paths?.compactMap { $0 as? String } ?? [])
            .filter { path in !path.split(separator: "/").contains { generated.contains($0) } }
            .map { "\(folder)/\($0)" }
    }

    /// Folders that tools make.
    private static let generated: Set<Substring> = [".build", ".swiftpm", "__pycache__"]
}
