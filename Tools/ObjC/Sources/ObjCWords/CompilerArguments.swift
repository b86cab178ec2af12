import Foundation

/// The arguments of a call of the compiler that say which files it reads.
package struct CompilerArguments: Sendable {
    /// The name of the module; empty if the arguments have none.
    package private(set) var module = ""
    /// The absolute paths of the source files.
    package private(set) var sources: [String] = []
    /// The path of the file that names the outputs for each source file.
    package private(set) var outputFileMap: String?

    /// Reads arguments.
    ///
    /// - Parameters:
    ///   - arguments: The arguments. `@FILE` stands for the arguments in a file, one in each line.
    ///   - folder: The folder to which paths are relative.
    package init(_ arguments: [String], in folder: String) {
        var previous = ""
        for argument in arguments.flatMap(Self.expanded) {
            if previous == "-module-name" { module = argument }
            if previous == "-output-file-map" { outputFileMap = Self.absolute(argument, in: folder) }
            if argument.hasSuffix(".swift"), !argument.hasPrefix("-") {
                sources.append(Self.absolute(argument, in: folder))
            }
            previous = argument
        }
    }

    private static func absolute(_ path: String, in folder: String) -> String {
        path.hasPrefix("/") ? path : folder + "/" + path
    }

    private static func expanded(_ argument: String) -> [String] {
        guard argument.hasPrefix("@"),
            let text = try? String(contentsOfFile: String(argument.dropFirst()), encoding: .utf8)
        else { return [argument] }
        return text.split(whereSeparator: \.isNewline).map { line in
            var word = line.trimmingCharacters(in: .whitespaces)[...]
            for quote in ["\"", "'"] where word.count > 1 && word.hasPrefix(quote) && word.hasSuffix(quote) {
                word = word.dropFirst().dropLast()
            }
            return String(word).replacing("\\ ", with: " ").replacing("\\\"", with: "\"").replacing("\\\\", with: "\\")
        }
    }
}
