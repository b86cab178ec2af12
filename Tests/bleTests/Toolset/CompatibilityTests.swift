import ArgumentParser
import Foundation
import Testing

@testable import ble

@Suite("Toolset with modules for compatibility")
struct CompatibilityTests {
    /// Writes a toolset for the modules of Apple's systems.
    private func toolset(in place: ToolsetPlace, names: [String] = []) throws -> ToolsetFolder {
        let toolset = ToolsetFolder(folder: place.folder.appending(path: "tool's set"))
        try toolset.write(
            BuiltModules(in: place.modules),
            for: Toolchain(at: place.toolchain.path),
            compatibility: .init(names: names)
        )
        return toolset
    }

    /// The options that the compiler of a toolset receives for a module with one file.
    private func options(_ toolset: ToolsetFolder, in place: ToolsetPlace, file: String, responseFile: Bool) throws
        -> String
    {
        let source = place.folder.appending(path: "a file.swift")
        try Data(file.utf8).write(to: source)
        var arguments = ["-module-name", "Lamp", "-package-name", "lights"]
        if responseFile {
            let list = place.folder.appending(path: "sources")
            try Data("\"\(source.path)\"\n".utf8).write(to: list)
            arguments.append("@\(list.path)")
        } else {
            arguments.append(source.path)
        }
        let compiler = try toolset.compiler(of: Toolchain(at: place.toolchain.path))
        let run = try CommandRun(compiler.path, arguments)
        #expect(run.status == 0)
        #expect(run.output.hasPrefix(arguments.joined(separator: " ")))
        return run.output
    }

    @Test("A module finds the modules that it imports without asking for them", arguments: [false, true])
    func imports(responseFile: Bool) throws {
        let place = try ToolsetPlace()
        defer { place.remove() }
        let toolset = try toolset(in: place)
        let output = try options(
            toolset,
            in: place,
            file: "import Combine\nimport os.log\n",
            responseFile: responseFile
        )
        for name in [
            "os=ShimOS", "OSLog=ShimOSLog", "ObjectiveC=ShimObjectiveC", "Combine=ShimCombine", "UIKit=ShimUIKit",
            "CryptoKit=ShimCryptoKit", "CoreLocation=ShimCoreLocation",
        ] {
            #expect(output.contains("-module-alias \(name)"))
        }
    }

    @Test(
        "A module that asks for a module does not find it, unless the module or its package is named",
        arguments: [([], false), (["other"], false), (["other", "lights"], true), (["Lamp"], true)]
    )
    func asks(names: [String], isFound: Bool) throws {
        let place = try ToolsetPlace()
        defer { place.remove() }
        let toolset = try toolset(in: place, names: names)
        let file = "  #elseif canImport( Combine ) && canImport(os)\n  import Combine\n"
        let output = try options(toolset, in: place, file: file, responseFile: false)
        #expect(output.contains("Combine=ShimCombine") == isFound)
        #expect(output.contains("os=ShimOS") == isFound)
        #expect(output.contains("UIKit=ShimUIKit"))
    }

    @Test(
        "Only a module that imports Foundation, itself or with another module, has the names of Apple's",
        arguments: [
            ("import Foundation", true), ("@preconcurrency import CoreBluetooth", true), ("public import UIKit", true),
            ("import CoreLocation", true),
            ("import class Foundation.Timer", true), ("import Glibc", false), ("// import Foundation", false),
        ]
    )
    func foundation(file: String, isImported: Bool) throws {
        let place = try ToolsetPlace()
        defer { place.remove() }
        let output = try options(try toolset(in: place), in: place, file: file, responseFile: false)
        #expect(output.contains("-import-module -Xfrontend ShimFoundation") == isImported)
    }

    @Test("Only a module that imports XCTest has the methods of Apple's", arguments: ["XCTest", "Testing"])
    func tests(module: String) throws {
        let place = try ToolsetPlace()
        defer { place.remove() }
        let output = try options(toolset(in: place), in: place, file: "import \(module)\n", responseFile: false)
        #expect(output.contains("-import-module -Xfrontend ShimXCTest") == (module == "XCTest"))
    }

    @Test("A call of the compiler without a source file is passed on unchanged")
    func otherCalls() throws {
        let place = try ToolsetPlace()
        defer { place.remove() }
        let toolset = try toolset(in: place)
        let compiler = try toolset.compiler(of: Toolchain(at: place.toolchain.path))
        #expect(try CommandRun(compiler.path, ["-emit-executable", "a.o"]).output == "-emit-executable a.o\n")
        #expect(try CommandRun(compiler.path, ["-print-target-info"]).output.contains("compilerVersion"))
    }

    @Test("Writing a folder without these modules, or removing it, leaves none of them", arguments: [false, true])
    func remove(isRewritten: Bool) throws {
        let place = try ToolsetPlace()
        defer { place.remove() }
        let before = try ToolsetPlace.tree(place.folder)
        let toolset = try toolset(in: place)
        if isRewritten {
            try toolset.write(BuiltModules(in: place.modules), for: Toolchain(at: place.toolchain.path))
            #expect(try !ToolsetPlace.tree(toolset.folder).keys.contains { $0.hasPrefix("compat") })
        }
        try toolset.remove()
        #expect(try ToolsetPlace.tree(place.folder) == before)
        #expect(throws: ToolsetError.noToolset(folder: toolset.folder.path)) { try toolset.remove() }
        #expect(throws: ToolsetError.occupied(folder: place.toolchain.path)) {
            try ToolsetFolder(folder: place.toolchain).remove()
        }
        #expect(try ToolsetPlace.tree(place.folder) == before)
    }

    @Test("Built modules without those for compatibility are refused, and nothing is written")
    func missing() throws {
        let place = try ToolsetPlace()
        defer { place.remove() }
        try FileManager.default.removeItem(at: place.modules.appending(path: "compat"))
        let before = try ToolsetPlace.tree(place.folder)
        #expect(throws: ToolsetError.noCompatibility(folder: place.modules.path)) { try toolset(in: place) }
        #expect(try ToolsetPlace.tree(place.folder) == before)
    }

    @Test(
        "Options that do not fit together are refused",
        arguments: [
            ["--compat", "--install"], ["--compat", "--uninstall", "a"], ["--compat", "--check", "a"],
            ["--can-import", "a", "b"], ["--compat", "--can-import", "a,b", "c"], ["--install", "a"],
        ]
    )
    func validation(arguments: [String]) {
        #expect(throws: (any Error).self) { try ToolsetCommand.parse(arguments) }
    }

    @Test(
        "Options that fit together are accepted",
        arguments: [["--compat", "a"], ["--uninstall", "a"], ["--uninstall"]]
    )
    func accepted(arguments: [String]) throws { _ = try ToolsetCommand.parse(arguments) }
}
