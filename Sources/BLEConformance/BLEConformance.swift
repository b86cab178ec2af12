import ArgumentParser
import BLERuntime

/// Drives parts of the stack through bytes, for test suites that others wrote.
///
/// Each subcommand wires real cores to descriptors and translates JSON; none holds protocol logic of its own but for
/// what no app can ask of a server (``AttributeProcedure``).
@main
struct BLEConformance: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Drives parts of the stack through bytes, for test suites written elsewhere.",
        discussion: "Standard output carries one JSON object a line, and nothing else.",
        subcommands: [
            AttributeCommand.self, PairingCommand.self, ControllerCommand.self, HostCommand.self, FileCommand.self,
            AdversaryCommand.self,
        ]
    )

    static func main() { main(nil) }

    /// Does what `arguments` say, or ends with exit status 2 if they make no sense.
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

    /// Ends the process with exit status 2, and a line on standard error that says why.
    static func end(_ reason: String) -> Never {
        try? StandardStream.error.write(line: "BLEConformance: \(reason)")
        exit(withError: ExitCode(2))
    }
}

/// An argument or a case that makes no sense: exit status 2 and one line on standard error.
struct Senseless: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
