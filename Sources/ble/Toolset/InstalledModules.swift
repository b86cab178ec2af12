import BLERuntime
import Foundation

/// The modules that `ble toolset` has installed in a toolchain, with a record of their files.
///
/// The record is a file in the toolchain. It is written before the first file is copied, and removed after the last
/// file has been deleted, so that an interrupted installation can be removed, too.
struct InstalledModules {
    /// The contents of the record.
    struct Record: Codable, Hashable {
        let origin: BuiltModules.Origin
        /// The paths of the installed files, relative to the toolchain's `lib` folder.
        var files: [String]
        /// The folders that the installation created, outer folders first.
        var folders: [String]
    }

    /// The modules for which ``refusals()`` makes C modules: importing one stops a build with `--static-swift-stdlib`.
    private static let refused = ["CoreBluetooth", "BLESimulation", "CoreBluetoothExtras"]

    private let toolchain: Toolchain
    private let root: URL
    private let recordPath: URL

    init(in toolchain: Toolchain) {
        self.toolchain = toolchain
        root = toolchain.resources.deletingLastPathComponent()
        recordPath = toolchain.resources.appending(path: "corebluetooth.json")
    }

    /// Reads the record; `nil` if no modules are installed.
    func record() throws(ToolsetError) -> Record? {
        guard FileManager.default.fileExists(atPath: recordPath.path) else { return nil }
        let record: Record
        do {
            record = try JSONDecoder().decode(Record.self, from: Data(contentsOf: recordPath))
        } catch {
            throw .unusableFile(recordPath.path, reason: SystemFile.reason(for: error, at: recordPath.path))
        }
        let isInside = (record.files + record.folders).allSatisfy { path in
            !path.hasPrefix("/") && !path.split(separator: "/").contains("..")
        }
        guard isInside else { throw .malformedRecord(recordPath.path) }
        return record
    }

    /// Copies modules into the toolchain.
    ///
    /// Removes previously installed modules first.
    func install(_ modules: BuiltModules) throws(ToolsetError) {
        try modules.check(toolchain)
        if try record() != nil { try uninstall() }
        let copies = try copies(of: modules), refusals = refusals()
        let files = copies.map(\.path) + refusals.map(\.path)
        for path in files where FileManager.default.fileExists(atPath: root.appending(path: path).path) {
            throw .foreign(file: root.appending(path: path).path)
        }
        let record = Record(origin: modules.origin, files: files, folders: missingFolders(for: files))
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            try encoder.encode(record).write(to: recordPath)
            for path in record.folders {
                try FileManager.default.createDirectory(
                    at: root.appending(path: path),
                    withIntermediateDirectories: false
                )
            }
            for copy in copies {
                try FileManager.default.copyItem(at: copy.source, to: root.appending(path: copy.path))
            }
            for refusal in refusals { try Data(refusal.text.utf8).write(to: root.appending(path: refusal.path)) }
        } catch {
            try? uninstall()
            throw Self.unwritable(root.path, error)
        }
    }

    /// Removes every file and folder in the record, and finally the record.
    ///
    /// Folders that also contain other files remain.
    func uninstall() throws(ToolsetError) {
        guard let record = try record() else { throw .notInstalled(toolchain: root.path) }
        do {
            for path in record.files {
                let file = root.appending(path: path)
                if FileManager.default.fileExists(atPath: file.path) { try FileManager.default.removeItem(at: file) }
            }
            for path in record.folders.reversed() {
                let folder = root.appending(path: path).path
                // It is no error if a folder is already gone, or another program has put a file into it.
                guard rmdir(folder) != 0, ![ENOENT, ENOTEMPTY, EEXIST].contains(errno) else { continue }
                throw ToolsetError.unusableFile(folder, reason: String(cString: strerror(errno)))
            }
            try FileManager.default.removeItem(at: recordPath)
        } catch let error as ToolsetError {
            throw error
        } catch {
            throw Self.unwritable(root.path, error)
        }
    }

    private static func unwritable(_ path: String, _ error: any Error) -> ToolsetError {
        let hint = geteuid() == 0 ? "" : ". Use sudo, or “ble toolset DIR” instead of --install."
        return .unusableFile(path, reason: SystemFile.reason(for: error, at: path) + hint)
    }

    /// Returns the files to copy, with their paths in the toolchain.
    ///
    /// Libraries and Swift modules go into the same folder as the toolchain's own, C modules one folder above it.
    private func copies(of modules: BuiltModules) throws(ToolsetError) -> [(source: URL, path: String)] {
        let resources = toolchain.resources.lastPathComponent
        let libraries = resources + "/" + toolchain.libraries.lastPathComponent
        var copies: [(URL, String)] = []
        for path in try modules.files(below: "lib") {
            copies.append((modules.folder.appending(path: "lib/" + path), libraries + "/" + path))
        }
        for path in try modules.files(below: "modules") {
            let isOfSwift = path.split(separator: "/").first?.hasSuffix(".swiftmodule") ?? false
            copies.append(
                (modules.folder.appending(path: "modules/" + path), (isOfSwift ? libraries : resources) + "/" + path)
            )
        }
        return copies
    }

    /// Returns C modules that stop a build with `--static-swift-stdlib`, with an error that explains why.
    ///
    /// The result is empty if the toolchain does not support that option.
    ///
    /// A program built with that option contains its own Swift runtime, while the library uses the shared one. A
    /// process with two runtimes crashes.
    private func refusals() -> [(path: String, text: String)] {
        let folder = toolchain.resources.lastPathComponent + "_static"
        guard FileManager.default.fileExists(atPath: root.appending(path: folder).path) else { return [] }
        return Self.refused.flatMap { name in
            [
                ("\(folder)/\(name)/module.modulemap", "module \(name) { header \"refuse.h\" }\n"),
                (
                    "\(folder)/\(name)/refuse.h",
                    """
                    #error "\(name) of this toolchain is a shared library: build without --static-swift-stdlib, or \
                    depend on the package corebluetooth-linux"

                    """
                ),
            ]
        }
    }

    /// Returns the folders that must be created for `files`, outer folders first.
    private func missingFolders(for files: [String]) -> [String] {
        var folders: [String] = []
        for file in files {
            var path = ""
            for part in file.split(separator: "/").dropLast() {
                path += (path.isEmpty ? "" : "/") + part
                let isThere = FileManager.default.fileExists(atPath: root.appending(path: path).path)
                if !isThere, !folders.contains(path) { folders.append(path) }
            }
        }
        return folders
    }
}
