import ArgumentParser
import Foundation
import Testing

@testable import ble

@Suite("Toolset that rewrites Objective-C words")
struct ObjectiveCTests {
    /// Writes a program that acts as `ble-objc`: it prints a path if one of its arguments is a Swift file.
    private func rewriter(in folder: URL) throws -> URL {
        let program = folder.appending(path: "ble-objc")
        let text = """
            #!/bin/sh
            case "$*" in
            report*missing) echo "Error: no such folder" >&2; exit 1 ;;
            report*) echo "$@" ;;
            *.swift*) echo "/over lay.yaml" ;;
            esac
            """
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: program)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program.path)
        return program
    }

    private func toolset(in place: ToolsetPlace, rewriter: URL) throws -> ToolsetFolder {
        let toolset = ToolsetFolder(folder: place.folder.appending(path: "tool's set"))
        var compatibility = ToolsetFolder.Compatibility(names: [])
        let variables = [ObjectiveCRewriter.variable: rewriter.path]
        compatibility.objectiveC = (try ObjectiveCRewriter(besides: place.folder, environment: variables), ["/a lamp"])
        try toolset.write(
            BuiltModules(in: place.modules),
            for: Toolchain(at: place.toolchain.path),
            compatibility: compatibility
        )
        return toolset
    }

    @Test("The compiler reads the overlay if there is one", arguments: [("b.swift", true), ("b.o", false)])
    func overlay(file: String, isRewritten: Bool) throws {
        let place = try ToolsetPlace()
        defer { place.remove() }
        let toolset = try toolset(in: place, rewriter: rewriter(in: place.folder.appending(path: "bin")))
        let compiler = try toolset.compiler(of: Toolchain(at: place.toolchain.path))
        let run = try CommandRun(compiler.path, ["-c", file])
        #expect(run.status == 0)
        #expect(run.output.hasPrefix("-c \(file)"))
        #expect(run.output.contains("-vfsoverlay /over lay.yaml") == isRewritten)
    }

    @Test("Without the rewriter, the compiler is not called, and the error says what to do")
    func missing() throws {
        let place = try ToolsetPlace()
        defer { place.remove() }
        let program = try rewriter(in: place.folder.appending(path: "bin"))
        let toolset = try toolset(in: place, rewriter: program)
        try FileManager.default.removeItem(at: program)
        let compiler = try toolset.compiler(of: Toolchain(at: place.toolchain.path))
        let run = try CommandRun(compiler.path, ["-c", "b.swift"])
        #expect(run.status == 1)
        #expect(run.output.contains("ble toolset --objc"))
    }

    @Test("Removing the toolset leaves nothing of it")
    func remove() throws {
        let place = try ToolsetPlace()
        defer { place.remove() }
        let program = try rewriter(in: place.folder.appending(path: "bin"))
        let before = try ToolsetPlace.tree(place.folder)
        let toolset = try toolset(in: place, rewriter: program)
        #expect(try ToolsetPlace.tree(toolset.folder).keys.contains("objc/compiler"))
        try toolset.remove()
        #expect(try ToolsetPlace.tree(place.folder) == before)
    }

    @Test("The program is found by the variable, beside ble, in PATH and in a checkout, in this order")
    func places() throws {
        let place = try ToolsetPlace()
        defer { place.remove() }
        let script = place.folder.appending(path: "Packaging/toolset.sh")
        try FileManager.default.createDirectory(
            at: script.deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        try Data().write(to: script)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: script.path)
        let ble = place.folder.appending(path: ".build/debug/ble"), path = place.folder.appending(path: "path")
        let checkout = ToolsetError.noRewriter(named: nil, checkout: place.folder.path)
        #expect(throws: checkout) { try ObjectiveCRewriter(besides: ble, environment: [:]) }
        #expect(checkout.description.contains("--package-path \(place.folder.path)/Tools/ObjC"))
        var variables = ["PATH": "/nowhere:\(path.path)"]
        for folder in [
            place.folder.appending(path: "Tools/ObjC/.build/release"), path, ble.deletingLastPathComponent(),
        ] {
            let program = try rewriter(in: folder)
            #expect(try ObjectiveCRewriter(besides: ble, environment: variables).program == program.path)
        }
        variables[ObjectiveCRewriter.variable] = "/nowhere/ble-objc"
        #expect(throws: ToolsetError.noRewriter(named: "/nowhere/ble-objc", checkout: nil)) {
            try ObjectiveCRewriter(besides: ble, environment: variables)
        }
    }

    @Test("The report is that of the program, and so is its error")
    func report() throws {
        let place = try ToolsetPlace()
        defer { place.remove() }
        let variables = [ObjectiveCRewriter.variable: try rewriter(in: place.folder).path]
        let rewriter = try ObjectiveCRewriter(besides: place.folder, environment: variables)
        #expect(try rewriter.report(on: "/lamp", asJSON: false) == "report -- /lamp\n")
        #expect(try rewriter.report(on: "/lamp", asJSON: true) == "report --json -- /lamp\n")
        #expect(throws: ToolsetError.rewritingFailed(package: "/missing", reason: "no such folder")) {
            try rewriter.report(on: "/missing", asJSON: false)
        }
    }

    @Test(
        "Options that do not fit together are refused",
        arguments: [
            ["--objc", "a", "--install"], ["--objc", "a", "--uninstall", "b"], ["--json", "b"], ["--objc", "a"],
        ]
    )
    func validation(arguments: [String]) {
        #expect(throws: (any Error).self) { try ToolsetCommand.parse(arguments) }
    }

    @Test(
        "Options that fit together are accepted",
        arguments: [["--objc", "a", "b"], ["--objc", "a", "--objc", "c", "--can-import", "d", "--json", "b"]]
    )
    func accepted(arguments: [String]) throws { _ = try ToolsetCommand.parse(arguments) }
}
