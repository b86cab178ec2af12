import ArgumentParser
import Testing

@testable import ble

@Suite("Help texts")
struct HelpTests {
    /// A command with its help text, in lines that are not wrapped.
    struct Command: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let help: String
    }

    /// `ble` and all of its subcommands.
    static let commands = all(of: Ble.self, "ble")

    private static func all(of command: any ParsableCommand.Type, _ name: String) -> [Command] {
        [Command(testDescription: name, help: command.helpMessage(columns: 1_000))]
            + command.configuration.subcommands.flatMap { all(of: $0, name + " " + $0._commandName) }
    }

    @Test("Examples, with their explanations, fit into 80 columns", arguments: commands)
    func examplesFit(in command: Command) {
        let end = command.help.firstRange(of: "\nUSAGE:")?.lowerBound ?? command.help.endIndex
        let lines = command.help[..<end].split(separator: "\n")
        #expect(lines.filter { $0.hasPrefix("  ") && $0.count > 80 } == [])
    }

    @Test("An option says its default, and lists its values, once", arguments: commands)
    func factsComeOnce(in command: Command) {
        for line in command.help.split(separator: "\n") {
            #expect(line.ranges(of: "default:").count < 2, "\(line)")
            guard let list = line.firstMatch(of: /\(values: ([a-z, -]+)/)?.1 else { continue }
            let values = list.split(separator: ", ")
            #expect(values.contains { line.ranges(of: $0).count < 2 }, "\(line)")
        }
    }
}
