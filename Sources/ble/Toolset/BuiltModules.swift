import BLERuntime
import Foundation

/// A folder that `Packaging/toolset.sh` has built, with the libraries and modules for a toolchain.
///
/// | path | content |
/// | --- | --- |
/// | `lib` | libraries |
/// | `modules/NAME.swiftmodule` | Swift modules |
/// | `modules/NAME` | C modules |
/// | `modules.json` | the compiler that built them, and their target |
/// | `compat` | `lib` and `modules` that stand in for modules of Apple's systems, and `compiler`, a script |
struct BuiltModules {
    /// The contents of `modules.json`.
    struct Origin: Codable, Hashable {
        let version: String
        let compiler: String
        let target: String
    }

    static let originName = "modules.json"
    static let compatibilityName = "compat"

    let folder: URL
    let origin: Origin

    init(in folder: URL) throws(ToolsetError) {
        self.folder = folder
        do {
            let content = try Data(contentsOf: folder.appending(path: Self.originName))
            origin = try JSONDecoder().decode(Origin.self, from: content)
        } catch {
            throw .notModules(folder: folder.path)
        }
    }

    /// Finds the modules that belong to this program, in an installation or in a checkout.
    ///
    /// The modules of an installed `PREFIX/bin/ble` are in `PREFIX/lib/corebluetooth-swift`. If `ble` was built in a
    /// checkout, they are in that checkout's `.build/toolset`.
    init(besides program: URL) throws(ToolsetError) {
        let binaries = program.deletingLastPathComponent()
        let installed = binaries.deletingLastPathComponent().appending(path: "lib/corebluetooth-swift")
        let checkout = Self.checkout(of: program)
        let places = [installed] + (checkout.map { [URL(fileURLWithPath: $0).appending(path: ".build/toolset")] } ?? [])
        let found = places.first { FileManager.default.fileExists(atPath: $0.appending(path: Self.originName).path) }
        guard let found else { throw .noModules(checkout: checkout) }
        try self.init(in: found)
    }

    /// Returns the folder of the checkout that a program was built in; `nil` if it was installed.
    static func checkout(of program: URL) -> String? {
        var folder = program.deletingLastPathComponent()
        while folder.path != "/" {
            folder = folder.deletingLastPathComponent()
            let script = folder.appending(path: "Packaging/toolset.sh").path
            if FileManager.default.isExecutableFile(atPath: script) { return folder.path }
        }
        return nil
    }

    /// True if the folder contains the modules that stand in for those of Apple's systems.
    var hasCompatibility: Bool {
        FileManager.default.fileExists(atPath: folder.appending(path: "\(Self.compatibilityName)/compiler").path)
    }

    /// Throws an error unless the modules fit a toolchain.
    ///
    /// A compiler reads only modules that a compiler of the same version has built for the same target.
    func check(_ toolchain: Toolchain) throws(ToolsetError) {
        guard origin.compiler == toolchain.version, origin.target == toolchain.target else {
            throw .mismatch(
                built: "\(origin.compiler) for \(origin.target)",
                present: "\(toolchain.version) for \(toolchain.target)"
            )
        }
    }

    /// Returns the paths of all files below a subfolder, relative to that subfolder, sorted.
    func files(below name: String) throws(ToolsetError) -> [String] {
        let root = folder.appending(path: name)
        do {
            return try FileManager.default.subpathsOfDirectory(atPath: root.path).filter { path in
                var isFolder: ObjCBool = false
                return FileManager.default.fileExists(atPath: root.appending(path: path).path, isDirectory: &isFolder)
                    && !isFolder.boolValue
            }.sorted()
        } catch {
            throw .unusableFile(root.path, reason: SystemFile.reason(for: error, at: root.path))
        }
    }
}
