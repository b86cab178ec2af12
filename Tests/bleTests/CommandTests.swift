import ArgumentParser
import Glibc
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

    @Test("An app to which no signal may be sent is not reported as quit, and an app that has ended is")
    func quitting() throws {
        func send(_ outcome: Int32) throws {
            try App.send(SIGTERM, to: 4_711) { process, number in
                #expect(process == 4_711 && number == SIGTERM)
                errno = outcome
                return outcome == 0 ? 0 : -1
            }
        }
        try send(0)
        try send(ESRCH)
        #expect {
            try send(EPERM)
        } throws: { error in
            let cure = "Run this command as root or as the user that runs the process."
            return "\(error)" == "Cannot quit process 4711: Operation not permitted. \(cure)"
        }
    }
}
