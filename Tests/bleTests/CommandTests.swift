import ArgumentParser
import Testing

@testable import ble

@Suite("Commands")
struct CommandTests {
    /// All commands below `command`, each with the command above it.
    private static func all(below command: any ParsableCommand.Type) -> [any ParsableCommand.Type] {
        command.configuration.subcommands.flatMap { [$0] + all(below: $0) }
    }

    @Test("Every command states its name, because deriving it from the type would slow down each start")
    func names() {
        let commands = Self.all(below: Ble.self)
        #expect(commands.count > 30)
        let nameless = commands.filter { $0.configuration.commandName == nil }.map { "\($0)" }
        #expect(nameless == [])
    }
}
