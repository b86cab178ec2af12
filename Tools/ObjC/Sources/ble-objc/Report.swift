import ArgumentParser
import Foundation
import ObjCWords

/// The command that says what would be rewritten in a package.
struct Report: ParsableCommand {
    /// A line of the report for programs.
    struct Line: Encodable {
        struct Left: Encodable {
            let word: String
            let line: Int
            let column: Int
            let reason: String
        }
        var event = "objc"
        let file: String
        var rewritten: [String: Int]?
        var left: [Left]?
        var error: String?
    }

    static let configuration = CommandConfiguration(
        abstract: "List the Objective-C interoperability that is translated in a package, and what is left."
    )

    @Flag(help: "Print JSON instead of text: one object for each file, each on a line of its own.")
    var json = false
    @Argument(help: "The folder of the package.")
    var package: String

    func run() throws {
        let folder = URL(fileURLWithPath: package).standardizedFileURL.path
        let paths: [String]
        do {
            paths = try SourceFiles.paths(inPackage: folder)
        } catch {
            throw Failure(message: "Cannot read the package \(folder): \(error.localizedDescription)")
        }
        guard !paths.isEmpty else {
            throw Failure(message: "\(folder) has no Swift files. Name the folder that contains Package.swift.")
        }
        var files = 0, words = 0, rest = 0
        for module in SourceFiles.modules(of: paths, inPackage: folder) {
            let sources = SourceFiles(paths: module)
            for problem in sources.problems {
                show(Line(file: name(problem.path, in: folder), error: problem.reason))
                rest += 1
            }
            for file in ModuleRewriter(files: sources.files).rewrite() where !file.findings.isEmpty {
                let line = line(for: file, in: folder)
                show(line)
                files += file.text == nil ? 0 : 1
                words += (line.rewritten ?? [:]).values.reduce(0, +)
                rest += line.left?.count ?? 0
            }
        }
        let uses = "\(words) \(words == 1 ? "use" : "uses") of Objective-C"
        let place = "\(files) of \(paths.count) \(paths.count == 1 ? "file" : "files")"
        if !json { print("\(uses) translated in \(place), \(rest) left") }
    }

    private func name(_ path: String, in folder: String) -> String { String(path.dropFirst(folder.count + 1)) }

    private func line(for file: RewrittenFile, in folder: String) -> Line {
        var line = Line(file: name(file.path, in: folder))
        for finding in file.findings {
            switch finding.outcome {
            case .rewritten: line.rewritten = (line.rewritten ?? [:]).merging([finding.word: 1], uniquingKeysWith: +)
            case .left(let reason):
                let left = Line.Left(word: finding.word, line: finding.line, column: finding.column, reason: reason)
                line.left = (line.left ?? []) + [left]
            }
        }
        return line
    }

    private func show(_ line: Line) {
        guard !json else {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            if let text = try? encoder.encode(line) { print(String(decoding: text, as: UTF8.self)) }
            return
        }
        let words = (line.rewritten ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        if !words.isEmpty { print("\(line.file): \(words.joined(separator: ", "))") }
        for left in line.left ?? [] {
            print("\(line.file):\(left.line):\(left.column): \(left.word) is left as it is: \(left.reason)")
        }
        if let error = line.error { print("\(line.file): left as it is: \(error)") }
    }
}

/// The reason why a command ends without its work done.
struct Failure: Error, CustomStringConvertible {
    let message: String
    var description: String { message }
}
