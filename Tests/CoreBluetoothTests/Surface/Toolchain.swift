import Foundation

/// The compiler that built the tests, at work on the modules that it built.
///
/// It needs no network and takes about a second for each call, so that what compiles, and what does not, is part of
/// the tests that everybody runs.
enum Toolchain {
    struct Outcome {
        let succeeded: Bool
        /// What the tool printed, on both of its streams.
        let output: String
    }

    /// The folder of the package.
    static let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// What the compiler has to be told to find our modules, as SwiftPM does for apps.
    private static let search = [
        "-I",
        URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appending(path: "Modules").path,
        "-Xcc", "-fmodule-map-file=" + package.appending(path: "Sources/CoreBluetoothSubmodules/module.modulemap").path,
        "-Xcc", "-fmodule-map-file=" + package.appending(path: "Sources/LinuxCalls/module.modulemap").path,
    ]

    /// Checks that `files` compile together as an app, without a warning unless that is allowed.
    static func compile(
        _ files: [URL],
        mode: Int,
        allowsWarnings: Bool = false,
        _ options: [String] = []
    ) throws -> Outcome {
        try run(
            ["swiftc", "-typecheck", "-swift-version", "\(mode)", "-module-name", "App"]
                + (allowsWarnings ? [] : ["-warnings-as-errors"]) + search + options + files.map(\.path)
        )
    }

    /// Checks that `text` compiles as the one file of an app, without a warning.
    static func compile(_ text: String, mode: Int, _ options: [String] = []) throws -> Outcome {
        try withFolder { folder in
            let file = folder.appending(path: "App.swift")
            try Data(text.utf8).write(to: file)
            return try compile([file], mode: mode, ["-parse-as-library"] + options)
        }
    }

    /// Checks a file that needs no library, not even that of Swift, for another system.
    static func compile(_ file: URL, for target: String) throws -> Outcome {
        try run(["swiftc", "-frontend", "-typecheck", "-parse-stdlib", "-target", target, file.path])
    }

    /// The graph of what a module offers to apps, as the compiler knows it.
    static func symbolGraph(of module: String) throws -> Data {
        try withFolder { folder in
            let outcome = try run(
                ["swift-symbolgraph-extract", "-module-name", module, "-target", target, "-output-dir", folder.path]
                    + ["-minimum-access-level", "public"] + search
            )
            guard outcome.succeeded else { throw Failed(description: outcome.output) }
            return try Data(contentsOf: folder.appending(path: "\(module).symbols.json"))
        }
    }

    /// Checks the articles in `folder` against what the module offers, without a warning.
    static func documentation(of module: String, in folder: URL) throws -> Outcome {
        let graph = try symbolGraph(of: module)
        return try withFolder { scratch in
            let symbols = scratch.appending(path: "symbols")
            try FileManager.default.createDirectory(at: symbols, withIntermediateDirectories: true)
            try graph.write(to: symbols.appending(path: "\(module).symbols.json"))
            return try run([
                "docc", "convert", folder.path, "--additional-symbol-graph-dir", symbols.path,
                "--fallback-display-name", module, "--fallback-bundle-identifier", module,
                "--output-path", scratch.appending(path: "archive").path, "--warnings-as-errors",
            ])
        }
    }

    struct Failed: Error, CustomStringConvertible { let description: String }

    private static var target: String {
        #if arch(arm64)
            "aarch64-unknown-linux-gnu"
        #else
            "x86_64-unknown-linux-gnu"
        #endif
    }

    private static func withFolder<Result>(_ body: (URL) throws -> Result) throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try body(folder)
    }

    private static func run(_ command: [String]) throws -> Outcome {
        let process = Process(), pipe = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = command
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return Outcome(succeeded: process.terminationStatus == 0, output: String(decoding: output, as: UTF8.self))
    }
}
