import ArgumentParser

/// The program that `ble toolset --objc` and the toolsets that it writes call.
@main
struct BleObjC: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ble-objc",
        abstract: "Rewrite the Objective-C words of a Swift package for a compiler on Linux.",
        discussion: """
            “ble toolset --objc FOLDER DIR” writes a toolset that runs this program before the compiler. The sources \
            stay as they are: the compiler reads rewritten copies by means of an overlay.

            Examples:
              ble-objc report Lamp            say which words are rewritten, and which are left
              ble-objc report --json Lamp     the same, one JSON object for each file
            """,
        subcommands: [Report.self, WriteOverlay.self]
    )
}
