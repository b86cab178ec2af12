import ArgumentParser
import BLERuntime
import BLESimulation
import Foundation

struct Demo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Run a chat room with a host and two guests, without a radio.",
        discussion: """
            The host and the guests are programs that use only Core Bluetooth. Each has its own Bluetooth host stack \
            and virtual controller, and the controllers share one virtual radio. Time is virtual, so the demo ends as \
            soon as its work is done. The same seed gives the same packets.

            Examples:
              ble demo
              ble demo --packets
              ble demo --json --seed 7 --loss 0.3
              ble demo --page demo.html
            """
    )

    @Option(help: "Random seed (default: 1).", transform: Bounds(0...UInt64.max).read)
    var seed: UInt64 = 1

    @Option(
        help: "Fraction of packets that the radio loses, 0 to 0.9 (default: 0).",
        transform: Bounds(0...0.9).read
    )
    var loss = 0.0

    @Flag(help: "Show all packets between hosts and controllers, field by field.")
    var packets = false

    @Option(help: ArgumentHelp("Also write the demo to this file, as an HTML page.", valueName: "file"))
    var page: String?

    @Option(
        help: ArgumentHelp(
            "A fault that happens once, such as “linkLoss 6000 ms at packet 60 of bob”; see docs/FAULTS.md.",
            valueName: "fault"
        ),
        transform: World.Fault.read
    )
    var fault: World.Fault?

    @OptionGroup var output: OutputOptions

    @MainActor
    func run() async throws {
        let printer = Printer(output)
        let world = World(seed: seed, conditions: .init(loss: loss))
        if page != nil { world.recordPage(reading: ValueFormat.reading) }
        if let fault { world.plan([fault]) }
        let show = ChatDemo(in: world, printer: printer, showsPackets: packets)
        let isDone = await show.run()
        if let page {
            try await reportingErrors {
                do {
                    try Data(world.page.utf8).write(to: URL(fileURLWithPath: page))
                } catch {
                    throw CommandError.unusableFile(page, SystemFile.reason(for: error, at: page))
                }
            }
        }
        guard isDone else { throw ExitCode.failure }
    }
}

extension World.Fault {
    /// Reads a fault in the form in which failed runs print it.
    fileprivate static func read(_ text: String) throws -> Self {
        guard let fault = Self(text), ["lobby", "alice", "bob"].contains(fault.machine) else {
            throw ValidationError(
                """
                “\(text)” is not a fault of the machines lobby, alice or bob. Use, for example, “linkLoss 6000 ms \
                at packet 60 of bob”.
                """
            )
        }
        return fault
    }
}
