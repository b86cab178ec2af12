import Foundation

/// A folder with a copy of the modules, and with `toolset.json`, the file that makes SwiftPM use them.
struct ToolsetFolder {
    /// The contents of `toolset.json`, as SE-0387 defines them.
    struct Description: Codable, Hashable {
        struct Tool: Codable, Hashable {
            let extraCLIOptions: [String]
        }
        var schemaVersion = "1.0"
        let swiftCompiler: Tool
        let linker: Tool
    }

    /// The compilation condition by which this project's own sources detect that they are compiled a second time, in a
    /// package that uses the toolset.
    static let condition = "COREBLUETOOTH_TOOLSET"

    private static let content = [BuiltModules.originName, "lib", "modules", "toolset.json"]

    let folder: URL
    var file: URL { folder.appending(path: "toolset.json") }

    /// Writes the folder.
    ///
    /// Replaces a toolset that is already there.
    func write(_ modules: BuiltModules, for toolchain: Toolchain) throws(ToolsetError) {
        try modules.check(toolchain)
        let files = FileManager.default
        let present = Set((try? files.contentsOfDirectory(atPath: folder.path)) ?? [])
        guard present.isEmpty || present.isSubset(of: Self.content) && present.contains(BuiltModules.originName) else {
            throw .occupied(folder: folder.path)
        }
        do {
            try files.createDirectory(at: folder, withIntermediateDirectories: true)
            for name in present { try files.removeItem(at: folder.appending(path: name)) }
            for name in [BuiltModules.originName, "lib", "modules"] {
                try files.copyItem(at: modules.folder.appending(path: name), to: folder.appending(path: name))
            }
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            try encoder.encode(description).write(to: file)
        } catch {
            throw .unusableFile(folder.path, reason: error.localizedDescription)
        }
    }

    /// The options for the compiler and the linker.
    ///
    /// The run path is a `DT_RPATH`, which is also searched for the dependencies of libraries. So the shared library
    /// finds the toolchain libraries that the program itself does not use.
    var description: Description {
        let library = folder.appending(path: "lib").path, modules = folder.appending(path: "modules").path
        return Description(
            swiftCompiler: .init(extraCLIOptions: ["-I\(modules)", "-D\(Self.condition)"]),
            linker: .init(extraCLIOptions: ["-L\(library)", "-rpath=\(library)", "--disable-new-dtags"])
        )
    }

    /// Returns the options for `swiftc` that `toolset.json` contains.
    func options() throws(ToolsetError) -> [String] {
        do {
            let description = try JSONDecoder().decode(Description.self, from: Data(contentsOf: file))
            return description.swiftCompiler.extraCLIOptions
                + description.linker.extraCLIOptions.flatMap { ["-Xlinker", $0] }
        } catch {
            throw .unusableFile(file.path, reason: "it is not a toolset: “ble toolset \(folder.path)” writes one.")
        }
    }
}
