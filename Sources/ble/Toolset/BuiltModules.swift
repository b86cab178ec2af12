import Foundation

/// A folder with the library and the modules for a toolchain, as `Packaging/toolset.sh` builds it.
///
/// | path | content |
/// | --- | --- |
/// | `lib` | libraries |
/// | `modules/NAME.swiftmodule` | Swift modules |
/// | `modules/NAME` | modules of C |
/// | `modules.json` | the compiler that they were built with, and the target |
struct BuiltModules {
    /// The contents of `modules.json`.
    struct Origin: Codable, Hashable {
        let version: String
        let compiler: String
        let target: String
    }

    static let originName = "modules.json"

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

    /// Finds the modules that were installed or built together with this program.
    ///
    /// An installed `PREFIX/bin/ble` has them in `PREFIX/lib/corebluetooth-swift`. One that was built in a checkout has
    /// them in `.build/toolset` of that checkout.
    init(besides program: URL) throws(ToolsetError) {
        let binaries = program.deletingLastPathComponent()
        let installed = binaries.deletingLastPathComponent().appending(path: "lib/corebluetooth-swift")
        var places = [installed]
        var checkout: String?
        var folder = binaries
        while folder.path != "/" {
            folder = folder.deletingLastPathComponent()
            let script = folder.appending(path: "Packaging/toolset.sh").path
            guard FileManager.default.isExecutableFile(atPath: script) else { continue }
            checkout = folder.path
            places.append(folder.appending(path: ".build/toolset"))
            break
        }
        let found = places.first { FileManager.default.fileExists(atPath: $0.appending(path: Self.originName).path) }
        guard let found else { throw .noModules(checkout: checkout) }
        try self.init(in: found)
    }

    /// Checks that a toolchain can use the modules: the compiler reads only modules of its own version.
    func check(_ toolchain: Toolchain) throws(ToolsetError) {
        guard origin.compiler == toolchain.version, origin.target == toolchain.target else {
            throw .mismatch(
                built: "\(origin.compiler) for \(origin.target)",
                present: "\(toolchain.version) for \(toolchain.target)"
            )
        }
    }

    /// The paths of all files below a folder of the modules, relative to that folder, sorted.
    func files(below name: String) throws(ToolsetError) -> [String] {
        let root = folder.appending(path: name)
        do {
            return try FileManager.default.subpathsOfDirectory(atPath: root.path).filter { path in
                var isFolder: ObjCBool = false
                return FileManager.default.fileExists(atPath: root.appending(path: path).path, isDirectory: &isFolder)
                    && !isFolder.boolValue
            }.sorted()
        } catch {
            throw .unusableFile(root.path, reason: error.localizedDescription)
        }
    }
}
