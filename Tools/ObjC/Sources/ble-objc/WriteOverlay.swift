import ArgumentParser
import Foundation
import ObjCWords

/// The command that a toolset runs before each call of the compiler.
struct WriteOverlay: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "overlay",
        abstract: "Write translated copies of the files that the compiler is about to read.",
        discussion: """
            Prints the path of the overlay for the compiler's option -vfsoverlay, or nothing if no file of the \
            packages is compiled, or none needs changes.
            """
    )

    @Option(help: "The folder for the copies.")
    var output: String
    @Option(help: "The folder of a package whose files are translated. Repeatable.")
    var package: [String]
    @Argument(parsing: .captureForPassthrough, help: "The arguments of the compiler, after “--”.")
    var arguments: [String] = []

    func run() throws {
        let call = CompilerArguments(arguments, in: FileManager.default.currentDirectoryPath)
        let folders = package.map(Self.resolved)
        let paths = call.sources.filter { path in
            let path = Self.resolved(path)
            return folders.contains { path.hasPrefix($0 + "/") }
        }
        guard let first = paths.first.map(Self.resolved),
            let folder = folders.first(where: { first.hasPrefix($0 + "/") })
        else { return }
        let sources = SourceFiles(paths: paths)
        for problem in sources.problems {
            let warning = "this file is compiled without translation: \(problem.reason)"
            let text = "\(problem.path):1:1: warning: \(warning)\n"
            FileHandle.standardError.write(Data(text.utf8))
        }
        let overlay = Overlay(in: output, module: call.module, package: folder)
        let outputs = call.outputFileMap.flatMap { try? Data(contentsOf: URL(fileURLWithPath: $0)) }.flatMap { data in
            try? JSONDecoder().decode([String: [String: String]].self, from: data)
        }
        // The compiler compiles a file again if the file itself has changed, or if its object is missing.
        let written = try overlay.write(ModuleRewriter(files: sources.files).rewrite()) { path in
            if let object = outputs?[path]?["object"] { try? FileManager.default.removeItem(atPath: object) }
        }
        if let written { print(written) }
    }

    private static func resolved(_ path: String) -> String {
        URL(fileURLWithPath: path).resolvingSymlinksInPath().standardizedFileURL.path
    }
}
