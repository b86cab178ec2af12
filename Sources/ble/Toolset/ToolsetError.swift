import ArgumentParser
import BLERuntime

/// A reason why modules cannot be given to a toolchain, with a message that says what to do.
enum ToolsetError: Error, Hashable, CustomStringConvertible {
    /// No Swift compiler at this path, or none in PATH.
    case noCompiler(at: String?)
    /// The compiler at this path did not describe itself.
    case unusableCompiler(String, reason: String)
    /// No built modules; the folder is the source checkout that `ble` was built from, if any.
    case noModules(checkout: String?)
    /// The folder holds no built modules.
    case notModules(folder: String)
    /// The modules were built with another compiler, or for another machine.
    case mismatch(built: String, present: String)
    /// The folder holds files that `ble toolset` has not written.
    case occupied(folder: String)
    /// The toolchain has a file of this path, which `ble toolset` has not written.
    case foreign(file: String)
    /// The toolchain holds none of the modules.
    case notInstalled(toolchain: String)
    /// The record of the installed files names a path outside the toolchain.
    case malformedRecord(String)
    /// A file cannot be read or written.
    case unusableFile(String, reason: String)
    /// The program that uses the modules did not compile, or did not run.
    case checkFailed(step: String, output: String)

    var description: String {
        switch self {
        case .noCompiler(nil):
            """
            No Swift compiler found: swiftc is not in PATH. Install Swift (https://www.swift.org/install) or name a \
            toolchain with --toolchain.
            """
        case .noCompiler(let path?):
            "No Swift compiler found in \(path). Name the folder of a toolchain: it has usr/bin/swiftc or bin/swiftc."
        case .unusableCompiler(let path, let reason): "Cannot use the compiler \(path): \(reason)"
        case .noModules(let checkout?):
            "The modules are not built yet. Build them with \(checkout)/Packaging/toolset.sh and try again."
        case .noModules(nil):
            """
            No built modules found. Install the package corebluetooth-swift, or build them in a checkout of \
            corebluetooth-linux with Packaging/toolset.sh and name their folder with --from.
            """
        case .notModules(let folder): "\(folder) has no built modules: Packaging/toolset.sh writes such a folder."
        case .mismatch(let built, let present):
            """
            The modules were built with \(built), but the toolchain is \(present). Use that toolchain (--toolchain), \
            or build the modules with this one: Packaging/toolset.sh.
            """
        case .occupied(let folder):
            "\(folder) holds other files. Choose a folder that is empty or does not exist."
        case .foreign(let file):
            "\(file) is already there, and “ble toolset” has not written it. Nothing was changed."
        case .notInstalled(let toolchain):
            "The toolchain in \(toolchain) has no Core Bluetooth modules that “ble toolset --install” has written."
        case .malformedRecord(let path):
            "\(path) names files outside the toolchain. Nothing was removed; install the toolchain again."
        case .unusableFile(let path, let reason): "Cannot use \(path): \(reason)"
        case .checkFailed(let step, let output):
            "The program that uses Core Bluetooth did not \(step):\n\(output)"
        }
    }

    /// The exit status of the process, as in sysexits.h.
    var exitCode: ExitCode {
        switch self {
        case .noCompiler, .unusableCompiler, .noModules: ExitCode(69)
        case .notModules, .occupied, .foreign, .unusableFile, .malformedRecord: ExitCode(66)
        case .mismatch, .notInstalled, .checkFailed: .failure
        }
    }
}

/// Runs the work of a command, and turns an error into a message on standard error and an exit status.
func reportingToolsetError(_ work: () throws -> Void) throws {
    do {
        try work()
    } catch let error as ToolsetError {
        try? StandardStream.error.write(line: "ble: \(error)")
        throw error.exitCode
    }
}
