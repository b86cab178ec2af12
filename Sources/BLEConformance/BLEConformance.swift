import ArgumentParser
import BLERuntime

/// A program that runs parts of the stack for the test suites of other projects.
///
/// The subcommands run the stack's own state machines; test cases, requests and results are JSON. The subcommands
/// contain no protocol logic of their own, except for the requests that no app can make (``AttributeProcedure``) and
/// the oracles of `adversary`.
@main
struct BLEConformance: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "BLEConformance",
        abstract: "Drive parts of the stack with bytes, for external test suites.",
        discussion: "Standard output has one JSON object per line, and nothing else.",
        subcommands: [
            AttributeCommand.self, PairingCommand.self, ControllerCommand.self, HostCommand.self, FileCommand.self,
            AdversaryCommand.self,
        ]
    )

    static func main() { main(nil) }

    /// Runs the command that `arguments` contain; exits with status 2 if they are invalid.
    ///
    /// If `arguments` is `nil`, the arguments of the process are used.
    static func main(_ arguments: [String]?) {
        do {
            var command = try parseAsRoot(arguments)
            try command.run()
        } catch let error as InvalidInput {
            end("\(error)")
        } catch {
            guard exitCode(for: error) == .validationFailure else { exit(withError: error) }
            end(message(for: error))
        }
    }

    /// Exits with status 2, after writing a line with the reason to standard error.
    static func end(_ reason: String) -> Never {
        try? StandardStream.error.write(line: "BLEConformance: \(reason)")
        exit(withError: ExitCode(2))
    }
}

/// An error: an argument, a test case or a line of input is invalid.
///
/// If a command throws it, the program exits with status 2 and a line on standard error.
struct InvalidInput: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
