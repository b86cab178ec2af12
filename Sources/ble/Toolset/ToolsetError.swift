import ArgumentParser
import BLERuntime

/// The reason why modules cannot be made available to a toolchain.
///
/// Its message says what the user can do.
enum ToolsetError: Error, Hashable, CustomStringConvertible {
    /// There is no Swift compiler at this path, or none in PATH if the path is `nil`.
    case noCompiler(at: String?)
    /// The compiler at this path did not report its properties.
    case unusableCompiler(String, reason: String)
    /// There are no built modules. `checkout` is the source checkout that `ble` was built in; `nil` if `ble` was
    /// installed.
    case noModules(checkout: String?)
    /// The folder does not contain built modules.
    case notModules(folder: String)
    /// The folder does not contain the modules that stand in for those of Apple's systems.
    case noCompatibility(folder: String)
    /// The program `ble-objc` was not found.
    ///
    /// `named` is the path that the variable `BLE_OBJC` contains; `nil` if the variable is not set. `checkout` is the
    /// source checkout that `ble` was built in, if it is known.
    case noRewriter(named: String?, checkout: String?)
    /// The Objective-C constructs of a package cannot be rewritten.
    case rewritingFailed(package: String, reason: String)
    /// The folder does not contain a toolset.
    case noToolset(folder: String)
    /// The modules were built with a different compiler version, or for a different target.
    case mismatch(built: String, present: String)
    /// The folder contains files that `ble toolset` did not write.
    case occupied(folder: String)
    /// The toolchain contains a file at this path that `ble toolset` did not write.
    case foreign(file: String)
    /// The modules are not installed in this toolchain.
    case notInstalled(toolchain: String)
    /// The record of the installed files contains a path outside the toolchain.
    case malformedRecord(String)
    /// A file cannot be read or written.
    case unusableFile(String, reason: String)
    /// The program of ``ToolsetCheck`` did not compile or did not run.
    case checkFailed(step: String, output: String)

    var description: String {
        switch self {
        case .noCompiler(nil):
            """
            No Swift compiler found: swiftc is not in PATH. Install Swift (https://www.swift.org/install) or name a \
            toolchain with --toolchain.
            """
        case .noCompiler(let path?):
            "No Swift compiler found in \(path). Name a folder with usr/bin/swiftc or bin/swiftc."
        case .unusableCompiler(let path, let reason): "Cannot use the compiler \(path): \(Self.ended(reason))"
        case .noModules(let checkout?):
            "The modules are not built yet. Build them with \(checkout)/Packaging/toolset.sh and try again."
        case .noModules(nil):
            """
            No built modules found. Install the package corebluetooth-swift, or build them in a checkout of \
            corebluetooth-linux with Packaging/toolset.sh and name their folder with --from.
            """
        case .notModules(let folder): "\(folder) contains no built modules. Packaging/toolset.sh builds them."
        case .noCompatibility(let folder):
            "\(folder) contains no modules for --compat. Build them with Packaging/toolset.sh, or leave --compat out."
        case .noRewriter(let path?, _):
            """
            \(path), which the variable \(ObjectiveCRewriter.variable) names, is not an executable file. Set the \
            variable to the path of ble-objc, or unset it.
            """
        case .noRewriter(nil, let checkout?):
            """
            --objc needs the program ble-objc, which is neither next to ble nor in PATH. Build it with “swift build -c \
            release --package-path \(checkout)/Tools/ObjC --product ble-objc” and try again, or set \
            \(ObjectiveCRewriter.variable) to its path.
            """
        case .noRewriter(nil, nil):
            """
            --objc needs the program ble-objc, which is neither next to ble nor in PATH. In a checkout of \
            corebluetooth-linux, build it with “swift build -c release --package-path Tools/ObjC --product \
            ble-objc”, and set \(ObjectiveCRewriter.variable) to its path.
            """
        case .rewritingFailed(let package, let reason): "Cannot translate \(package). \(Self.ended(reason))"
        case .noToolset(let folder): "\(folder) contains no toolset written by “ble toolset”."
        case .mismatch(let built, let present):
            """
            The modules were built with \(built), but the toolchain is \(present). Use --toolchain to name the one \
            that built them, or run Packaging/toolset.sh to build them again with this one.
            """
        case .occupied(let folder):
            "\(folder) contains files that “ble toolset” did not write. Choose an empty folder or a new one."
        case .foreign(let file):
            """
            \(file) already exists and was not written by “ble toolset”. Move it away and try again, or use \
            “ble toolset DIR”.
            """
        case .notInstalled(let toolchain):
            "The toolchain in \(toolchain) has no Core Bluetooth modules installed by “ble toolset --install”."
        case .malformedRecord(let path):
            "\(path) lists files outside the toolchain. Nothing was removed; install the toolchain again."
        case .unusableFile(let path, let reason): "Cannot use \(path): \(Self.ended(reason))"
        case .checkFailed(let step, let output):
            "The program that uses Core Bluetooth did not \(step):\n\(output)"
        }
    }

    /// Returns a reason with a full stop at its end.
    private static func ended(_ reason: String) -> String { reason.hasSuffix(".") ? reason : reason + "." }

    /// The exit status of the process: a code of sysexits.h, or 1.
    var exitCode: ExitCode {
        switch self {
        case .noCompiler, .unusableCompiler, .noModules, .noCompatibility, .noRewriter: ExitCode(69)
        case .notModules, .occupied, .foreign, .unusableFile, .malformedRecord, .rewritingFailed: ExitCode(66)
        case .mismatch, .notInstalled, .noToolset, .checkFailed: .failure
        }
    }
}

/// Runs the work of a command.
///
/// If `work` throws a `ToolsetError`, writes the error's message to standard error, and throws its exit code.
func reportingToolsetError(_ work: () throws -> Void) throws {
    do {
        try work()
    } catch let error as ToolsetError {
        try? StandardStream.error.write(line: "ble: \(error)")
        throw error.exitCode
    }
}
