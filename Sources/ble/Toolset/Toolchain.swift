import Foundation

/// A Swift toolchain, with the properties that its compiler reports.
struct Toolchain: Hashable {
    /// The path of `swiftc`.
    let compiler: String
    /// The compiler's version, as in “Swift version 6.3.1 (swift-6.3.1-RELEASE)”.
    let version: String
    /// The target triple for which modules are compiled, as in `x86_64-unknown-linux-gnu`.
    let target: String
    /// The folder with headers and C modules: `usr/lib/swift`.
    let resources: URL
    /// The folder with libraries and Swift modules: `usr/lib/swift/linux`.
    let libraries: URL

    /// Finds the toolchain in a folder, or the one in PATH.
    ///
    /// - Parameter path: The folder of a toolchain, or the path of its `swiftc`; `nil` for the toolchain in PATH.
    /// - Throws: An error if there is no compiler, or it does not report its properties.
    init(at path: String?) throws(ToolsetError) {
        guard let compiler = Self.compiler(at: path) else { throw .noCompiler(at: path) }
        self.compiler = compiler
        let answer: Description
        do {
            let run = try CommandRun(compiler, ["-print-target-info"])
            guard run.status == 0 else { throw ToolsetError.unusableCompiler(compiler, reason: run.output) }
            answer = try JSONDecoder().decode(Description.self, from: Data(run.output.utf8))
        } catch let error as ToolsetError {
            throw error
        } catch {
            throw .unusableCompiler(compiler, reason: "it gives no valid answer to -print-target-info (\(error))")
        }
        guard let libraries = answer.paths.runtimeLibraryPaths.first else {
            throw .unusableCompiler(compiler, reason: "it reports no folder with its libraries")
        }
        version = answer.compilerVersion
        target = answer.target.moduleTriple
        resources = URL(fileURLWithPath: answer.paths.runtimeResourcePath, isDirectory: true)
        self.libraries = URL(fileURLWithPath: libraries, isDirectory: true)
    }

    private static func compiler(at path: String?) -> String? {
        let places: [String]
        if let path {
            places = [path, path + "/usr/bin/swiftc", path + "/bin/swiftc"]
        } else {
            places = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map { $0 + "/swiftc" }
        }
        return places.first { place in
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(atPath: place, isDirectory: &isFolder) && !isFolder.boolValue
                && FileManager.default.isExecutableFile(atPath: place)
        }
    }

    /// The parts of the output of `swiftc -print-target-info` that are used here.
    private struct Description: Decodable {
        struct Target: Decodable { let moduleTriple: String }
        struct Paths: Decodable {
            let runtimeLibraryPaths: [String]
            let runtimeResourcePath: String
        }
        let compilerVersion: String
        let target: Target
        let paths: Paths
    }
}
