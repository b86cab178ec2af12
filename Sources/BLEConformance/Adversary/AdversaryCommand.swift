import ArgumentParser
import Dispatch
import Foundation
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

    @Option(help: "The length of the longest sequences.")
    var depth = 3

    @Option(help: "How many sequences of that length with the same beginning are tried; all of them by default.")
    var sample: Int?

    @Option(help: "What the choice of a part follows from.")
    var seed: UInt64 = 0

    func validate() throws {
        guard depth > 0, sample ?? 1 > 0 else { throw ValidationError("the depth and the sample are at least 1") }
    }

    func run() throws {
        let attempts = Adversary(depth: depth, sample: sample, seed: seed).attempts
        let isSound = Mutex(true)
        DispatchQueue.concurrentPerform(iterations: attempts.count) { index in
            let report = attempts[index]()
            isSound.withLock {
                Self.write(report)
                $0 = $0 && report.complaints.isEmpty
            }
        }
        if let peak = ProcessMemory.peak { Self.write(["peak_megabytes": peak >> 20]) }
        if !isSound.withLock(\.self) { throw ExitCode(1) }
    }

    private static func write(_ object: some Encodable) {
        FileHandle.standardOutput.write(Data((JSONLine.text(object) + "\n").utf8))
    }
}
