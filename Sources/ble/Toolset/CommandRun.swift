import Foundation

/// A finished run of another program.
struct CommandRun {
    let status: Int32
    /// The text that the program wrote to standard output and standard error, in the order of writing.
    let output: String

    /// Runs a program, and waits for it to exit.
    ///
    /// - Parameters:
    ///   - program: The path of the program.
    ///   - arguments: Its arguments.
    ///   - environment: Environment variables to set in addition to those of this process.
    ///   - folder: The working directory; `nil` for this process's working directory.
    /// - Throws: Foundation's error if the program cannot be started.
    init(_ program: String, _ arguments: [String], environment: [String: String] = [:], in folder: URL? = nil) throws {
        let process = Process(), pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.currentDirectoryURL = folder
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let octets = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        status = process.terminationStatus
        output = String(decoding: octets, as: UTF8.self)
    }
}
