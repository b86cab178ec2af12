import BLERuntime
import Foundation

/// The program `ble-objc`, which rewrites Objective-C constructs, such as selectors, in Swift packages.
///
/// It has a package of its own, `Tools/ObjC`, because it is built with swift-syntax.
struct ObjectiveCRewriter {
    static let variable = "BLE_OBJC"
    private static let name = "ble-objc"

    /// The path of the program.
    let program: String

    /// Finds the program.
    ///
    /// Uses the path in the environment variable `BLE_OBJC` if it is set. Otherwise, searches beside this program, in
    /// PATH, and in the checkout that this program was built in.
    ///
    /// - Parameters:
    ///   - binary: The path of this program.
    ///   - environment: The environment variables.
    /// - Throws: An error that says how to build it.
    init(besides binary: URL, environment: [String: String]) throws(ToolsetError) {
        let isExecutable = FileManager.default.isExecutableFile
        if let named = environment[Self.variable] {
            let path = URL(fileURLWithPath: named).path
            guard isExecutable(path) else { throw .noRewriter(named: path, checkout: nil) }
            program = path
            return
        }
        var places = [binary.deletingLastPathComponent().appending(path: Self.name).path]
        places += (environment["PATH"] ?? "").split(separator: ":").map { "\($0)/\(Self.name)" }
        let checkout = BuiltModules.checkout(of: binary)
        for configuration in ["release", "debug"] {
            if let checkout { places.append("\(checkout)/Tools/ObjC/.build/\(configuration)/\(Self.name)") }
        }
        guard let found = places.first(where: { isExecutable($0) }) else {
            throw .noRewriter(named: nil, checkout: checkout)
        }
        program = found
    }

    /// Makes a report about a package.
    ///
    /// - Parameters:
    ///   - package: The path of the package.
    ///   - asJSON: True for one JSON object for each file, false for lines of text.
    /// - Returns: The constructs that are rewritten, and those that are left.
    /// - Throws: An error if the package cannot be read.
    func report(on package: String, asJSON: Bool) throws(ToolsetError) -> String {
        let run: CommandRun
        do {
            run = try CommandRun(program, ["report"] + (asJSON ? ["--json"] : []) + ["--", package])
        } catch {
            throw .unusableFile(program, reason: SystemFile.reason(for: error, at: program))
        }
        guard run.status == 0 else {
            let reason = run.output.trimmingCharacters(in: .whitespacesAndNewlines)
            throw .rewritingFailed(package: package, reason: reason.replacing("Error: ", with: ""))
        }
        return run.output
    }

    /// Makes a script that rewrites the files of a module, and then runs the compiler.
    ///
    /// - Parameters:
    ///   - packages: The folders of the packages whose files are rewritten.
    ///   - compiler: The path of the compiler.
    ///   - folder: The folder for the rewritten files.
    /// - Returns: The text of the script.
    func compilerScript(packages: [String], compiler: String, folder: String) -> String {
        let options = packages.map { "--package \($0.shellQuoted)" }.joined(separator: " ")
        return """
            #!/bin/sh
            # Translates the Objective-C interoperability of packages, and runs the Swift compiler on the result.
            rewriter=\(program.shellQuoted)
            if [ ! -x "$rewriter" ]; then
                echo "error: $rewriter does not exist: write the toolset again with “ble toolset --objc”" >&2
                exit 1
            fi
            overlay=$("$rewriter" overlay --output \(folder.shellQuoted) \(options) -- "$@") || exit
            exec \(compiler.shellQuoted) "$@" ${overlay:+-vfsoverlay "$overlay"}

            """
    }
}

extension String {
    /// The text as one word of a shell.
    var shellQuoted: String { "'" + replacing("'", with: "'\\''") + "'" }
}
