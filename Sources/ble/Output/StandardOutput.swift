import ArgumentParser
import BLERuntime
import Glibc

/// Writes the output of commands.
enum StandardOutput {
    /// Writes `octets` to standard output.
    ///
    /// If that fails, the process ends with a message on standard error, because nothing reads the output.
    static func write(_ octets: some Sequence<UInt8>) {
        do throws(StandardStream.Failure) {
            try StandardStream.output.write(octets)
        } catch {
            let trouble = CommandError.unwritableOutput(error)
            trouble.report()
            exit(trouble.exitCode.rawValue)
        }
    }

    /// Writes a line of text to standard output.
    static func write(line: String) { write((line + "\n").utf8) }
}
