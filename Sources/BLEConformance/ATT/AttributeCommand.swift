import ArgumentParser
import BLEWire
import Foundation

/// The command `att`, which runs the Attribute Protocol on a packet socket.
struct AttributeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "att",
        abstract: "Run a GATT server or client on the packet socket at file descriptor 3.",
        subcommands: [Server.self, Client.self]
    )

    struct Server: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Serve the database of a test case.")

        @Argument(help: "The JSON file that describes the test case.")
        var file: String

        func run() throws {
            try AttributeCommand.run { try AttributeServerDriver(AttributeCase(file: file), at: Instant()) }
        }
    }

    struct Client: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Run the client operations of a test case."
        )

        @Argument(help: "The JSON file that describes the test case.")
        var file: String

        func run() throws {
            try AttributeCommand.run { try AttributeClientDriver(AttributeCase(file: file), at: Instant()) }
        }
    }

    private static func run(_ makeDriver: () throws -> some Driver) throws {
        var driver = try makeDriver()
        try DriverLoop(packets: 3, input: STDIN_FILENO, output: STDOUT_FILENO).run(&driver)
    }
}
