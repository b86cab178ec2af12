import ArgumentParser
import BLERuntime
import BLESimulation

struct Demo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run a chat room with a host and two guests, without a radio.",
        discussion: """
            The host and the guests are programs that use only Core Bluetooth. Each has its own Bluetooth host stack \
            and virtual controller, and the controllers share one virtual radio. Time is virtual, so the demo ends as \
            soon as its work is done. The same seed gives the same packets.

            Examples:
              ble demo
              ble demo --packets
              ble demo --json --seed 7 --loss 0.3
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

    @OptionGroup var output: OutputOptions

    @MainActor
    func run() async throws {
        let printer = Printer(output)
        let world = World(seed: seed, conditions: .init(loss: loss))
        let show = ChatDemo(in: world, printer: printer, showsPackets: packets)
        guard await show.run() else { throw ExitCode.failure }
    }
}
