import BLEWire

/// A target for an adversary's packets, as a value, so that the state after a common prefix is copied for every
/// continuation.
protocol Victim {
    /// Handles a packet and everything that follows from it at once.
    mutating func receive(_ packet: HostilePacket)
    /// Completes everything pending and returns the fault since the start; `nil` if there is none.
    consuming func verdict() -> String?
}

/// All sequences of packets up to a length, or a sample of them.
struct SequenceTree {
    let packets: [HostilePacket]
    let depth: Int
    /// The number of the longest sequences with the same prefix to try; `nil` for all.
    let sample: Int?
    private(set) var sequences = 0
    private(set) var complaints: [String] = []
    private var random: SeededGenerator

    /// The maximum number of faults to report.
    private static let enough = 20

    init(_ packets: [HostilePacket], depth: Int, sample: Int? = nil, seed: UInt64 = 0) {
        self.packets = packets
        self.depth = depth
        self.sample = sample
        random = SeededGenerator(seed: seed)
    }

    /// Tries the sequences on copies of `victim`.
    mutating func walk(_ victim: some Victim) { extend([], victim) }

    private mutating func extend(_ sequence: [HostilePacket], _ victim: some Victim) {
        guard sequence.count < depth else { return }
        for packet in choice(at: sequence.count + 1) {
            var copy = victim
            copy.receive(packet)
            let longer = sequence + [packet]
            note(longer, copy.verdict())
            extend(longer, copy)
        }
    }

    /// Tries the sequences on a target that cannot be copied, from the start each time.
    mutating func walk(complaint: ([HostilePacket]) -> String?) { extend([], complaint) }

    private mutating func extend(_ sequence: [HostilePacket], _ complaint: ([HostilePacket]) -> String?) {
        guard sequence.count < depth else { return }
        for packet in choice(at: sequence.count + 1) {
            let longer = sequence + [packet]
            note(longer, complaint(longer))
            extend(longer, complaint)
        }
    }

    private mutating func note(_ sequence: [HostilePacket], _ complaint: String?) {
        sequences += 1
        guard let complaint, complaints.count < Self.enough else { return }
        complaints.append(sequence.map(\.description).joined(separator: " ") + ": " + complaint)
    }

    private mutating func choice(at length: Int) -> [HostilePacket] {
        guard let sample, length == depth else { return packets }
        return (0..<sample).map { _ in packets[Int(random.below(Int64(packets.count)))] }
    }
}
