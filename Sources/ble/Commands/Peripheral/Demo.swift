import ArgumentParser
import BLERuntime
import BLESimulation

struct Demo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "See a chat room with a host and two guests, without a radio.",
        discussion: """
            The host and the guests are programs written against Core Bluetooth alone; each has a Bluetooth host and a \
            virtual controller of its own, and the controllers share one virtual radio. The time is the radio's: the \
            demo takes as long as the work in it. The same seed gives the same packets.

            Examples:
              ble demo
              ble demo --packets
              ble demo --json --seed 7 --loss 0.3
            """
    )

    @Option(help: "What every random choice follows from; 1 if left out.", transform: Bounds(0...UInt64.max).read)
    var seed: UInt64 = 1

    @Option(
        help: "The share of packets that the radio loses, 0 to 0.9; 0 if left out.",
        transform: Bounds(0...0.9).read
    )
    var loss = 0.0

    @Flag(help: "Show every packet between hosts and controllers, field by field.")
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
