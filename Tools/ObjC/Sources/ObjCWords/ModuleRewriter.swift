import SwiftParser
import SwiftSyntax

/// Rewrites the Objective-C words in the files of a module, for a compiler without the Objective-C runtime.
///
/// The files of a module belong together: a class in one of them can have its overrides in another one.
///
/// Lines keep their numbers, and columns too, except after an insertion on the same line. Declarations that are needed
/// in addition follow the last line.
package struct ModuleRewriter {
    private let files: [(path: String, text: String)]

    /// Creates a rewriter.
    ///
    /// - Parameter files: The paths and texts of all files of the module.
    package init(files: [(path: String, text: String)]) { self.files = files }

    /// Rewrites the files, and returns them in the same order.
    package func rewrite() -> [RewrittenFile] {
        let trees = files.map { Parser.parse(source: $0.text) }
        let index = ModuleIndex(trees)
        let visitors = zip(files, trees).map { file, tree in
            let visitor = WordVisitor(path: file.path, source: Array(file.text.utf8), tree: tree, index: index)
            visitor.walk(tree)
            return visitor
        }
        let moves = visitors.flatMap(\.moves)
        var types: [String] = []
        for move in moves where !types.contains(move.type) { types.append(move.type) }
        for type in types {
            guard let place = index.place(of: type) else { continue }
            visitors[place.file].insert(moves.filter { $0.type == type }.map(\.declaration), before: place.end)
        }
        return visitors.map { visitor in
            RewrittenFile(
                path: visitor.path,
                text: visitor.edits.isEmpty ? nil : visitor.edits.applied(to: visitor.source),
                findings: visitor.findings.sorted { ($0.line, $0.column) < ($1.line, $1.column) }
            )
        }
    }
}
