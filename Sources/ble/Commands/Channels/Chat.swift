import ArgumentParser

struct Chat: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Open a chat room, or join one.",
        discussion: """
            Every line of standard input is said to everybody. Lines that begin with a slash are commands; /help lists \
            them, and others are refused. At the end of standard input what was said is sent, and then the room is \
            closed or left, unless --stay is given.

            Examples:
              ble chat host --name Lobby
              ble chat join Lobby --name Alice
              printf 'hello\\n' | ble chat join Lobby --name Script --json
            """,
        subcommands: [ChatHostCommand.self, ChatJoinCommand.self]
    )

    /// What to say about a line that begins with a slash and is no command; such lines are not sent.
    static func unknown(_ line: String) -> String {
        "There is no command “\(line.prefix { $0 != " " })”, and nothing was said; /help lists the commands."
    }
}
