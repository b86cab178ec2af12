import ArgumentParser
import BLERuntime

struct Channel: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "channel",
        abstract: "Open or offer an L2CAP channel: a stream of octets, separate from attributes.",
        discussion: """
            Sends standard input, no faster than the peer accepts it, and writes received data to standard output. \
            With --json, received data is printed as objects.

            Examples:
              ble channel serve --name Store > received
              ble channel open Store < file
              ble channel serve --name Echo --echo
              ble channel open Echo --count 6 <<< "hello"
            """,
        subcommands: [ChannelOpenCommand.self, ChannelServeCommand.self]
    )
}

/// The options that `ble channel open` and `ble channel serve` share for the conversation over a channel.
struct ConversationOptions: ParsableArguments {
    @Flag(help: "After the end of standard input, stay until the peer closes the channel.")
    var stay = false
    @Option(
        help: ArgumentHelp("Stay until this many octets have been received (default: 0).", valueName: "octets"),
        transform: Bounds(0...Int.max, of: "octets").read
    )
    var count = 0
    @Flag(
        help: """
            Report the numbers of sent and received octets every second, on standard error; with --json, as “progress” \
            objects on standard output.
            """
    )
    var progress = false

    var endConditions: ChannelConversation.EndConditions { .init(stays: stay, count: count) }
}
