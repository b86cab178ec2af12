import ArgumentParser
import BLERuntime
import Dispatch
import Synchronization

/// `adversary`: every short sequence of packets that a hostile peer may send.
struct AdversaryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "adversary",
        abstract: "Has an adversary send every sequence of packets up to a length to each role of the host.",
        discussion: """
            The packets are \(HostilePacket.attributePackets.count) of the Attribute Protocol, \
            \(HostilePacket.signals.count) of L2CAP on a new link and \
            \(HostilePacket.channelPackets.count) on one with channels, and with Enhanced ATT bearers \
            \(HostilePacket.serverBearerPackets.count) to a server and \(HostilePacket.clientBearerPackets.count) to \
            a client, well-formed and not. After each sequence \
            everything must be answered as specified, the link and all others alive, and nothing may have grown \
            without bound.
            """
    )

    @Option(help: "The length of the longest sequences; 3 if left out.", transform: Bounds(1...16).read)
    var depth = 3

    @Option(
        help: "How many sequences of that length with the same beginning are tried; all of them by default.",
        transform: Bounds(1...1_000_000).read
    )
    var sample: Int?

    @Option(help: "What the choice of a part follows from; 0 if left out.", transform: Bounds(0...UInt64.max).read)
    var seed: UInt64 = 0

    func run() throws {
        let attempts = Adversary(depth: depth, sample: sample, seed: seed).attempts
        let isSound = Mutex(true)
        DispatchQueue.concurrentPerform(iterations: attempts.count) { index in
            let report = attempts[index]()
            isSound.withLock {
                JSONLine.print(report)
                $0 = $0 && report.complaints.isEmpty
            }
        }
        if let peak = ProcessMemory.peak { JSONLine.print(["peak_megabytes": peak >> 20]) }
        if !isSound.withLock(\.self) { throw ExitCode(1) }
    }
}
