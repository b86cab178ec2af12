import BLEWire

/// Something that packets of an adversary meet, as a value: what came of a beginning is copied for every end.
protocol Victim {
    /// Takes a packet and all that follows from it at once.
    mutating func receive(_ packet: HostilePacket)
    /// Brings to an end whatever is pending, and says what went wrong since the start; `nil` if nothing did.
    consuming func verdict() -> String?
}

/// Every sequence of packets up to a length, or a part of them.
struct SequenceTree {
    let packets: [HostilePacket]
    let depth: Int
    /// How many of the longest sequences with the same beginning are tried; all of them if `nil`.
    let sample: Int?
    private(set) var sequences = 0
    private(set) var complaints: [String] = []
    private var random: SeededGenerator

    /// How many complaints are worth reading.
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

    /// Tries the sequences on something that cannot be copied, from the start each time.
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
