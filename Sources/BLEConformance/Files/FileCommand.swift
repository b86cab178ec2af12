import ArgumentParser
import Dispatch
import Glibc

/// `file`: checks whether files of one kind are usable, one after the other.
struct FileCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "file",
        abstract: "Reads files, each a line of hexadecimal digits on standard input, and says which can be used.",
        discussion: """
            What can be used is used: a world is made and scanned in, a state becomes that of a host, and the database
            of a case is served. The answer is a line {"usable": BOOL} for each.
            """
    )

    @Argument(help: "What the files are: \(FileKind.allCases.map(\.rawValue).joined(separator: ", ")).")
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
