import ArgumentParser
import BLERuntime
import Glibc

/// Where commands print what they find out.
enum StandardOutput {
    /// Prints `octets`.
    ///
    /// If that is impossible, the process ends with a sentence on standard error: nobody is there for whom to go on.
    static func write(_ octets: some Sequence<UInt8>) {
        do throws(StandardStream.Failure) {
            try StandardStream.output.write(octets)
        } catch {
            let trouble = Trouble.unwritableOutput(error)
            trouble.report()
            exit(trouble.exitCode.rawValue)
        }
    }

    /// Prints a line of text.
    static func write(line: String) { write((line + "\n").utf8) }
}
