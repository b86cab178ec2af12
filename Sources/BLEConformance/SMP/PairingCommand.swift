import ArgumentParser
import BLEWire
import Foundation

/// The command `smp`, which performs one pairing on a packet socket.
struct PairingCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "smp",
        abstract: "Pairs once with the security manager behind the packet socket at descriptor 3."
    )

    @Argument(help: "The JSON file that describes the case.")
    var file: String

    func run() throws {
        var driver = try PairingDriver(PairingCase(file: file), at: Instant())
        try DriverLoop(packets: 3, input: STDIN_FILENO, output: STDOUT_FILENO).run(&driver)
    }
}
