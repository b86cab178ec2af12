import ArgumentParser
import BLERuntime
import Glibc

/// The standard output of commands.
enum StandardOutput {
    /// Writes `octets` to standard output.
    ///
    /// If writing fails, the process exits with a message on standard error, because its output is lost.
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
