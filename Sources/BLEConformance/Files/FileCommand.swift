import ArgumentParser
import Dispatch
import Glibc

/// The command `file`, which reads files of one kind, and reports for each of them whether it is usable.
struct FileCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "file",
        abstract: "Read one file per line, in hexadecimal digits, from standard input; report which files are usable.",
        discussion: """
            A file that can be read is also used: a world is created and scanned, a state is loaded into a host, and \
            the database of a test case is served. Prints a line {"usable": BOOL} for each file.
            """
    )

    @Argument(help: "The kind of file.")
    var kind: FileKind

    func run() {
        Task { [kind] in
            while let line = readLine() {
                let octets = (try? [UInt8](hexadecimal: line)) ?? []
                JSONLine.print(["usable": await kind.isUsable(octets)])
            }
            Self.exit()
        }
        dispatchMain()
    }
}
