import ArgumentParser
import BLERuntime

struct Channel: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Open a channel of octets beside the attributes (L2CAP), or offer one.",
        discussion: """
            Standard input goes out and what comes in goes to standard output, no faster than the other end takes it. \
            With --json, what comes in is printed as objects.

            Examples:
              ble channel serve --name Store > received
              ble channel open Store < file
              ble channel serve --name Echo --echo
              ble channel open Echo --count 6 <<< "hello"
            """,
        subcommands: [ChannelOpenCommand.self, ChannelServeCommand.self]
    )
}

/// The options of both commands that connect a channel to standard input and output.
struct ConversationOptions: ParsableArguments {
    @Flag(help: "Stay until the other end closes the channel, when standard input has ended.")
    var stay = false
    @Option(
        help: ArgumentHelp("Stay until so many octets have come in.", valueName: "octets"),
        transform: Bounds(0...Int.max, of: "octets").read
    )
    var count = 0
    @Flag(help: "Say each second on standard error how many octets went out and came in (“progress” with --json).")
    var progress = false

    var patience: ChannelConversation.Patience { .init(stays: stay, count: count) }
}
