import BLERuntime
import Foundation

/// A folder with a copy of the modules, and with `toolset.json`, the file that makes SwiftPM use them.
struct ToolsetFolder {
    /// The contents of `toolset.json`, as SE-0387 defines them.
    struct Description: Codable, Hashable {
        struct Tool: Codable, Hashable {
            let extraCLIOptions: [String]
        }
        var schemaVersion = "1.0"
        /// The folder in which SwiftPM looks for the compiler first; `nil` to use only the toolchain's compiler.
        var rootPath: String?
        let swiftCompiler: Tool
        let linker: Tool
    }

    /// The compilation condition by which this project's own sources detect that they are compiled a second time, in a
    /// package that uses the toolset.
    static let condition = "COREBLUETOOTH_TOOLSET"

    /// The options of `--compat`, which adds stand-ins for modules of Apple's systems to the toolset.
    struct Compatibility {
        /// The packages and modules in which conditions such as `#if canImport(Combine)` are true.
        ///
        /// In all others, these conditions are false, as without the toolset.
        let names: [String]
        /// The packages whose Objective-C constructs are rewritten, and the program that rewrites them; `nil` for none.
        var objectiveC: (rewriter: ObjectiveCRewriter, packages: [String])?
    }

    private static let objectiveCName = "objc"
    private static let content = [
        BuiltModules.originName, "lib", "modules", BuiltModules.compatibilityName, objectiveCName, "toolset.json",
    ]

    let folder: URL
    var file: URL { folder.appending(path: "toolset.json") }

    /// Writes the toolset into the folder.
    ///
    /// Replaces a toolset that is already there.
    ///
    /// - Parameters:
    ///   - modules: The built modules.
    ///   - toolchain: The toolchain that will use the folder.
    ///   - compatibility: The options for the modules of Apple's systems; `nil` to leave these modules out.
    /// - Throws: An error if the modules do not fit the toolchain, or the folder contains other files.
    func write(
        _ modules: BuiltModules,
        for toolchain: Toolchain,
        compatibility: Compatibility? = nil
    ) throws(ToolsetError) {
        try modules.check(toolchain)
        guard compatibility == nil || modules.hasCompatibility else {
            throw .noCompatibility(folder: modules.folder.path)
        }
        let files = FileManager.default, present = try presentContent()
        do {
            try files.createDirectory(at: folder, withIntermediateDirectories: true)
            for name in present { try files.removeItem(at: folder.appending(path: name)) }
            let names = [BuiltModules.originName, "lib", "modules"]
            for name in names + (compatibility == nil ? [] : [BuiltModules.compatibilityName]) {
                try files.copyItem(at: modules.folder.appending(path: name), to: folder.appending(path: name))
            }
            if let compatibility { try writeCompiler(of: toolchain, compatibility) }
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            try encoder.encode(description(withCompatibility: compatibility != nil)).write(to: file)
        } catch {
            throw .unusableFile(folder.path, reason: SystemFile.reason(for: error, at: folder.path))
        }
    }

    /// Removes the toolset, and its folder.
    func remove() throws(ToolsetError) {
        guard try !presentContent().isEmpty else { throw .noToolset(folder: folder.path) }
        do {
            try FileManager.default.removeItem(at: folder)
        } catch {
            throw .unusableFile(folder.path, reason: SystemFile.reason(for: error, at: folder.path))
        }
    }

    /// Returns the names of the toolset's files that are in the folder.
    ///
    /// Throws an error if it contains other files.
    private func presentContent() throws(ToolsetError) -> [String] {
        let present = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        guard present.isEmpty || Set(present).isSubset(of: Self.content) && present.contains(BuiltModules.originName)
        else { throw .occupied(folder: folder.path) }
        return present
    }

    /// Writes a toolchain folder whose compiler is a script.
    ///
    /// The script runs the toolchain's compiler with additional options. The folder also contains a link to the
    /// toolchain's libraries and macros, because SwiftPM searches for them relative to the compiler.
    private func writeCompiler(of toolchain: Toolchain, _ compatibility: Compatibility) throws {
        let program = compilerFolder.appending(path: "swiftc"), files = FileManager.default
        let usr = URL(fileURLWithPath: toolchain.compiler).deletingLastPathComponent().deletingLastPathComponent()
        let script = compatibilityFolder.appending(path: "compiler").path
        var compiler = toolchain.compiler
        if let (rewriter, packages) = compatibility.objectiveC {
            let folder = folder.appending(path: Self.objectiveCName)
            let text = rewriter.compilerScript(packages: packages, compiler: compiler, folder: folder.path)
            try files.createDirectory(at: folder, withIntermediateDirectories: true)
            compiler = folder.appending(path: "compiler").path
            try writeProgram(text, to: compiler)
        }
        let words = [script, compiler, compatibility.names.joined(separator: ",")].map(\.shellQuoted)
        try files.createDirectory(at: compilerFolder, withIntermediateDirectories: true)
        try writeProgram("#!/bin/sh\nexec /bin/sh \(words.joined(separator: " ")) \"$@\"\n", to: program.path)
        try files.createSymbolicLink(
            at: compilerFolder.deletingLastPathComponent().appending(path: "lib"),
            withDestinationURL: usr.appending(path: "lib")
        )
    }

    private func writeProgram(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    }

    private var compatibilityFolder: URL { folder.appending(path: BuiltModules.compatibilityName) }
    private var compilerFolder: URL { compatibilityFolder.appending(path: "toolchain/bin") }

    /// Returns the options for the compiler and the linker.
    ///
    /// The run path is a `DT_RPATH`, which is also searched for the dependencies of libraries. So the shared library
    /// finds the toolchain libraries that the program itself does not use.
    private func description(withCompatibility isCompatible: Bool) -> Description {
        var compiler = ["-D\(Self.condition)"], linker = ["--disable-new-dtags"]
        for folder in [folder] + (isCompatible ? [compatibilityFolder] : []) {
            let library = folder.appending(path: "lib").path
            compiler.append("-I\(folder.appending(path: "modules").path)")
            linker += ["-L\(library)", "-rpath=\(library)"]
        }
        return Description(
            rootPath: isCompatible ? compilerFolder.path : nil,
            swiftCompiler: .init(extraCLIOptions: compiler),
            linker: .init(extraCLIOptions: linker)
        )
    }

    /// Reads the compiler and its options from `toolset.json`.
    ///
    /// - Parameter toolchain: The toolchain whose compiler is used unless the toolset has one.
    /// - Returns: The path of the compiler, and the options for it.
    /// - Throws: An error if the folder has no toolset.
    func compiler(of toolchain: Toolchain) throws(ToolsetError) -> (path: String, options: [String]) {
        do {
            let description = try JSONDecoder().decode(Description.self, from: Data(contentsOf: file))
            let path = description.rootPath.map { $0 + "/swiftc" } ?? toolchain.compiler
            let linker = description.linker.extraCLIOptions.flatMap { ["-Xlinker", $0] }
            return (path, description.swiftCompiler.extraCLIOptions + linker)
        } catch {
            throw .unusableFile(file.path, reason: "it is missing or invalid. “ble toolset \(folder.path)” writes it.")
        }
    }
}
