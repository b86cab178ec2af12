import ArgumentParser

/// The program that `ble toolset --objc` and the toolsets that it writes call.
@main
struct BleObjC: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ble-objc",
        abstract: "Translate the Objective-C interoperability of a Swift package for Linux.",
        discussion: """
            “ble toolset --objc FOLDER DIR” writes a toolset that runs this program before the compiler. The sources \
            are not changed: the compiler reads translated copies through an overlay.

            Examples:
              ble-objc report Lamp            list what is translated, and what is left
              ble-objc report --json Lamp     the same, as one JSON object for each file
            """,
        subcommands: [Report.self, WriteOverlay.self]
    )
}
