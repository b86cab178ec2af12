import Foundation
import Testing

@testable import ble

/// Folders that look like a toolchain and built modules: the names are real, the contents are not.
struct ToolsetPlace {
    let folder = FileManager.default.temporaryDirectory.appending(path: "toolset-\(UUID().uuidString)")
    var toolchain: URL { folder.appending(path: "toolchain") }
    var modules: URL { folder.appending(path: "modules") }

    init(version: String = "Swift version 6.3.1", target: String = "x86_64-unknown-linux-gnu") throws {
        let library = toolchain.appending(path: "usr/lib/swift")
        let answer = """
            #!/bin/sh
            [ "$1" = -print-target-info ] || exec echo "$@"
            echo '{"compilerVersion": "\(version)", "target": {"moduleTriple": "\(target)"}, "paths": {
              "runtimeLibraryPaths": ["\(library.path)/linux"], "runtimeResourcePath": "\(library.path)"}}'
            """
        try Self.write(
            [
                "usr/bin/swiftc": answer, "usr/lib/swift/linux/libswiftCore.so": "core",
                "usr/lib/swift/dispatch/module.modulemap": "module Dispatch {}",
                "usr/lib/swift_static/linux/libswiftCore.a": "core",
            ],
            in: toolchain
        )
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o755],
            ofItemAtPath: toolchain.appending(path: "usr/bin/swiftc").path
        )
        try Self.write(
            [
                "modules.json": """
                {"version": "0.1.0", "compiler": "Swift version 6.3.1", "target": "x86_64-unknown-linux-gnu"}
                """,
                "lib/libCoreBluetooth.so": "library", "compat/lib/libCoreBluetoothCompat.so": "library",
                "compat/compiler": try Self.compilerScript(),
                "modules/CoreBluetooth/module.modulemap": "module CoreBluetooth {}",
                "modules/CoreBluetooth.swiftmodule/x86_64-unknown-linux-gnu.swiftmodule": "module",
            ],
            in: modules
        )
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o755],
            ofItemAtPath: modules.appending(path: "compat/compiler").path
        )
    }

    /// The script of the checkout that adds options for the modules for compatibility.
    private static func compilerScript() throws -> String {
        let path = "../../../Packaging/Compatibility/compiler"
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: path)
        return try String(contentsOf: file, encoding: .utf8)
    }

    private static func write(_ files: [String: String], in folder: URL) throws {
        for path in files.keys.sorted() {
            let file = folder.appending(path: path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try Data((files[path] ?? "").utf8).write(to: file)
        }
    }

    /// Every path below a folder, with the contents of files.
    static func tree(_ folder: URL) throws -> [String: String] {
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        return Dictionary(
            uniqueKeysWithValues: paths.map { path in
                (path, (try? String(contentsOf: folder.appending(path: path), encoding: .utf8)) ?? "a folder")
            }
        )
    }

    func remove() { try? FileManager.default.removeItem(at: folder) }
}

@Suite("Toolset")
struct ToolsetTests {
    @Test("Installing the modules, again, and removing them leaves the toolchain unchanged")
    func uninstall() throws {
        let place = try ToolsetPlace()
        defer { place.remove() }
        let before = try ToolsetPlace.tree(place.toolchain)
        let installed = InstalledModules(in: try Toolchain(at: place.toolchain.path))
        let modules = try BuiltModules(in: place.modules)
        try installed.install(modules)
        let once = try ToolsetPlace.tree(place.toolchain)
        try installed.install(modules)
        #expect(try ToolsetPlace.tree(place.toolchain) == once)
        #expect(once["usr/lib/swift/linux/libCoreBluetooth.so"] == "library")
        #expect(once["usr/lib/swift/CoreBluetooth/module.modulemap"] == "module CoreBluetooth {}")
        let module = "usr/lib/swift/linux/CoreBluetooth.swiftmodule/x86_64-unknown-linux-gnu.swiftmodule"
        #expect(once[module] == "module")
        #expect(once["usr/lib/swift_static/CoreBluetooth/refuse.h"]?.contains("--static-swift-stdlib") == true)
        try installed.uninstall()
        #expect(try ToolsetPlace.tree(place.toolchain) == before)
        #expect(throws: ToolsetError.notInstalled(toolchain: place.toolchain.appending(path: "usr/lib").path)) {
            try installed.uninstall()
        }
    }

    @Test("A file from another source is kept, and nothing is installed beside it")
    func foreign() throws {
        let place = try ToolsetPlace()
        defer { place.remove() }
        let library = place.toolchain.appending(path: "usr/lib/swift/linux/libCoreBluetooth.so")
        try Data("another".utf8).write(to: library)
        let before = try ToolsetPlace.tree(place.toolchain)
        let installed = InstalledModules(in: try Toolchain(at: place.toolchain.path))
        #expect(throws: ToolsetError.foreign(file: library.path)) {
            try installed.install(try BuiltModules(in: place.modules))
        }
        #expect(try ToolsetPlace.tree(place.toolchain) == before)
    }

    @Test("A record that names files outside the toolchain removes nothing", arguments: ["../../../bait", "/bait"])
    func malformedRecord(_ path: String) throws {
        let place = try ToolsetPlace()
        defer { place.remove() }
        let bait = place.folder.appending(path: "bait"), record = "usr/lib/swift/corebluetooth.json"
        try Data().write(to: bait)
        let text = """
            {"origin": {"version": "", "compiler": "", "target": ""}, "files": ["\(path)"], "folders": []}
            """
        try Data(text.utf8).write(to: place.toolchain.appending(path: record))
        let installed = InstalledModules(in: try Toolchain(at: place.toolchain.path))
        #expect(throws: ToolsetError.malformedRecord(place.toolchain.appending(path: record).path)) {
            try installed.uninstall()
        }
        #expect(FileManager.default.fileExists(atPath: bait.path))
    }

    @Test(
        "Modules for another compiler or target are refused",
        arguments: [
            ("Swift version 6.4", "x86_64-unknown-linux-gnu"), ("Swift version 6.3.1", "aarch64-unknown-linux-gnu"),
        ]
    )
    func mismatch(version: String, target: String) throws {
        let place = try ToolsetPlace(version: version, target: target)
        defer { place.remove() }
        let toolchain = try Toolchain(at: place.toolchain.path), modules = try BuiltModules(in: place.modules)
        let error = ToolsetError.mismatch(
            built: "Swift version 6.3.1 for x86_64-unknown-linux-gnu",
            present: "\(version) for \(target)"
        )
        #expect(throws: error) { try InstalledModules(in: toolchain).install(modules) }
        let folder = ToolsetFolder(folder: place.folder.appending(path: "toolset"))
        #expect(throws: error) { try folder.write(modules, for: toolchain) }
        #expect(!FileManager.default.fileExists(atPath: folder.folder.path))
    }

    @Test("A folder contains the needed compiler options, and can be written again")
    func folder() throws {
        let place = try ToolsetPlace()
        defer { place.remove() }
        let toolchain = try Toolchain(at: place.toolchain.path), modules = try BuiltModules(in: place.modules)
        let toolset = ToolsetFolder(folder: place.folder.appending(path: "toolset"))
        try toolset.write(modules, for: toolchain)
        let first = try ToolsetPlace.tree(toolset.folder)
        try toolset.write(modules, for: toolchain)
        #expect(try ToolsetPlace.tree(toolset.folder) == first)
        let options = try toolset.compiler(of: toolchain).options
        #expect(options.contains("-I\(toolset.folder.path)/modules"))
        #expect(options.contains("-L\(toolset.folder.path)/lib"))
    }

    @Test("A folder that contains other files is left unchanged")
    func occupied() throws {
        let place = try ToolsetPlace()
        defer { place.remove() }
        let toolset = ToolsetFolder(folder: place.toolchain)
        #expect(throws: ToolsetError.occupied(folder: place.toolchain.path)) {
            try toolset.write(try BuiltModules(in: place.modules), for: try Toolchain(at: place.toolchain.path))
        }
    }

    @Test("A folder without a compiler is not a toolchain")
    func noCompiler() throws {
        let place = try ToolsetPlace()
        defer { place.remove() }
        #expect(throws: ToolsetError.noCompiler(at: place.modules.path)) { try Toolchain(at: place.modules.path) }
    }

    @Test("The modules are found beside an installed program, and in the checkout of a built one")
    func besides() throws {
        let place = try ToolsetPlace(), files = FileManager.default
        defer { place.remove() }
        let prefix = place.folder.appending(path: "prefix"), checkout = place.folder.appending(path: "checkout")
        try files.createDirectory(at: prefix.appending(path: "lib"), withIntermediateDirectories: true)
        try files.copyItem(at: place.modules, to: prefix.appending(path: "lib/corebluetooth-swift"))
        #expect(try BuiltModules(besides: prefix.appending(path: "bin/ble")).origin.version == "0.1.0")

        let script = checkout.appending(path: "Packaging/toolset.sh"),
            program = checkout.appending(path: ".build/debug/ble")
        try files.createDirectory(at: script.deletingLastPathComponent(), withIntermediateDirectories: true)
        _ = files.createFile(atPath: script.path, contents: Data(), attributes: [.posixPermissions: 0o755])
        #expect(throws: ToolsetError.noModules(checkout: checkout.path)) { try BuiltModules(besides: program) }
        try files.createDirectory(at: checkout.appending(path: ".build"), withIntermediateDirectories: true)
        try files.copyItem(at: place.modules, to: checkout.appending(path: ".build/toolset"))
        #expect(try BuiltModules(besides: program).origin.version == "0.1.0")
    }
}
