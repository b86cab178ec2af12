import BLEWire

/// A target for an adversary's packets.
///
/// A target is a value, so it can be copied. The beginning that several sequences share is tried only once, and each of
/// the sequences continues with a copy of the target.
protocol Victim {
    /// Processes a packet, and everything that immediately follows from it.
    mutating func receive(_ packet: HostilePacket)
    /// Completes everything that is pending; returns the first fault since the start, or `nil` if there is none.
    consuming func verdict() -> String?
}

/// The sequences of packets to try on a target: all sequences up to a maximum length, or a sample of them.
struct SequenceTree {
    let packets: [HostilePacket]
    let depth: Int
    /// The number of packets, chosen at random, that are tried as the last packet of a sequence of length ``depth``;
    /// `nil` to try all packets.
    let sample: Int?
    private(set) var sequences = 0
    private(set) var complaints: [String] = []
    private var random: SeededGenerator

    /// The maximum number of faults in ``complaints``.
    private static let mostComplaints = 20

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

    /// Tries the sequences on a target that cannot be copied, each sequence from the start.
    ///
    /// `complaint` sends a sequence to a new target, and returns the first fault, or `nil` if there is none.
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
        guard let complaint, complaints.count < Self.mostComplaints else { return }
        complaints.append(sequence.map(\.description).joined(separator: " ") + ": " + complaint)
    }

    private mutating func choice(at length: Int) -> [HostilePacket] {
        guard let sample, length == depth else { return packets }
        return (0..<sample).map { _ in packets[Int(random.below(Int64(packets.count)))] }
    }
}

/// The size of a value: the number of elements in all collections inside it, at any depth.
///
/// State that grows with each packet from an adversary increases this number.
enum Weight {
    static func of(_ value: Any) -> Int {
        if let octets = value as? [UInt8] { return octets.count }
        let children = Mirror(reflecting: value).children
        return children.reduce(value is any Collection ? children.count : 0) { $0 + of($1.value) }
    }
}

extension AttributeVictim {
    /// Returns the growth of the layer, in elements and octets, after the adversary has sent all `packets`, in order,
    /// `rounds` times.
    func growth(underFloodOf packets: [HostilePacket], rounds: Int) -> Int {
        var flooded = self
        for _ in 0..<rounds {
            for packet in packets { flooded.receive(packet) }
            flooded.record = record
        }
        return Weight.of(flooded.layer) - Weight.of(layer)
    }
}
