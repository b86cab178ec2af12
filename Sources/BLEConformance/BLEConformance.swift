import ArgumentParser
import BLERuntime

/// Connects parts of the stack to bytes on descriptors, for test suites of other projects.
///
/// Each subcommand connects the real cores to descriptors and translates JSON. Only ``AttributeProcedure`` contains
/// protocol logic: the requests that no app can make.
@main
struct BLEConformance: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Drives parts of the stack with bytes, for external test suites.",
        discussion: "Standard output has one JSON object per line, and nothing else.",
        subcommands: [
            AttributeCommand.self, PairingCommand.self, ControllerCommand.self, HostCommand.self, FileCommand.self,
            AdversaryCommand.self,
        ]
    )

    static func main() { main(nil) }

    /// Runs the command in `arguments`, or exits with status 2 if they are invalid.
    static func main(_ arguments: [String]?) {
        do {
            var command = try parseAsRoot(arguments)
            try command.run()
        } catch let error as Senseless {
            end("\(error)")
        } catch {
            guard exitCode(for: error) == .validationFailure else { exit(withError: error) }
            end(message(for: error))
        }
    }

    /// Exits with status 2 and a line on standard error that gives the reason.
    static func end(_ reason: String) -> Never {
        try? StandardStream.error.write(line: "BLEConformance: \(reason)")
        exit(withError: ExitCode(2))
    }
}

/// An invalid argument or case: exit status 2 and one line on standard error.
struct Senseless: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
