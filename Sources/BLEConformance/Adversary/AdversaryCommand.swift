import ArgumentParser
import BLERuntime
import Dispatch
import Foundation
import Synchronization

/// The command `adversary`, which attacks the host with every short sequence of a hostile peer's packets.
struct AdversaryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "adversary",
        abstract: "Send each role of the host every sequence of up to --depth packets.",
        discussion: """
            Packets, both valid and malformed: \(HostilePacket.attributePackets.count) for ATT; \
            \(HostilePacket.signals.count) for L2CAP on a new link; \(HostilePacket.channelPackets.count) on a link \
            with open channels; with Enhanced ATT, \(HostilePacket.serverBearerPackets.count) to a server and \
            \(HostilePacket.clientBearerPackets.count) to a client.

            After each sequence, every request must have been answered as specified, all links must still be up, and \
            no state may have grown without bound. Exit status: 0 if that holds for all sequences, otherwise 1.
            """
    )

    @Option(help: "Maximum length of sequences (default: 3).", transform: Bounds(1...16).read)
    var depth = 3

    @Option(
        help: "Number of packets, chosen at random, to try as the last of --depth packets (default: all).",
        transform: Bounds(1...1_000_000).read
    )
    var sample: Int?

    @Option(help: "Seed for the random choice of packets (default: 0).", transform: Bounds(0...UInt64.max).read)
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

/// The memory use of this process, as Linux reports it.
enum ProcessMemory {
    /// The maximum resident size in octets; `nil` if the system does not report it.
    ///
    /// Linux reports it in kibibytes, in the field `VmHWM` of proc_pid_status(5).
    static var peak: Int? {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return nil }
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line.flatMap { Int($0.filter(\.isNumber)) }.map { $0 << 10 }
    }
}
