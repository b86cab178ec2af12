import ArgumentParser
import BLERuntime

struct Chat: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "chat",
        abstract: "Open a chat room, or join one.",
        discussion: """
            Each line of standard input is sent to everyone in the room. Lines that begin with a slash are commands: \
            /help lists them, and unknown ones are refused. At the end of standard input, the remaining messages are \
            sent and the room is closed or left, unless --stay is given.

            Examples:
              ble chat host --name Lobby
              ble chat join Lobby --name Alice
              printf 'hello\\n' | ble chat join Lobby --name Script --json
            """,
        subcommands: [ChatHostCommand.self, ChatJoinCommand.self]
    )

    /// Returns the message for a line that begins with a slash but is not a command.
    ///
    /// Such lines are not sent.
    static func unknown(_ line: String) -> String {
        "Unknown command “\(String(line.prefix { $0 != " " }).printable)”; nothing was sent. /help lists the commands."
    }
}
