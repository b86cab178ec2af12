import BLEWire

/// All attacks on a host.
struct Adversary {
    /// The result of one part of the attacks.
    struct Report: Encodable {
        let victim: String
        let sequences: Int
        let seconds: Double
        let complaints: [String]
    }

    let depth: Int
    let sample: Int?
    let seed: UInt64

    /// The attacks, one independent part for each victim.
    var attempts: [@Sendable () -> Report] {
        var attempts: [@Sendable () -> Report] = []
        for role in [HCI.Role.central, .peripheral] {
            attempts.append { channels(role) }
            attempts.append { signals(role) }
        }
        for scene in BearerScene.allCases { attempts.append { bearers(scene) } }
        for part in AttributeVictim.Part.allCases {
            attempts.append { attributes(part) }
            attempts.append { flood(part) }
        }
        return attempts
    }

    /// Sequences of ATT packets.
    func attributes(_ part: AttributeVictim.Part) -> Report {
        measured("attributes, \(part.rawValue)") {
            var tree = SequenceTree(part.packets, depth: depth, sample: sample, seed: seed)
            tree.walk(AttributeVictim(part))
            return (tree.sequences, tree.complaints)
        }
    }

    /// Sequences of L2CAP signalling packets.
    func signals(_ role: HCI.Role) -> Report {
        checked("signals, \(role)", HostilePacket.signals) {
            let victim = SignalVictim(role)
            return { victim.complaint(about: $0) }
        }
    }

    /// Sequences of packets on open channels, and of signals about them.
    func channels(_ role: HCI.Role) -> Report {
        checked("channels, \(role)", HostilePacket.channelPackets) {
            let victim = ChannelVictim(role)
            return { victim.complaint(about: $0) }
        }
    }

    /// Sequences of packets on Enhanced ATT bearers, and of signals about them.
    func bearers(_ scene: BearerScene) -> Report {
        checked("bearers, \(scene.rawValue)", scene.packets) {
            let victim = ChannelVictim(scene)
            return { victim.complaint(about: $0) }
        }
    }

    /// Sequences on links of a whole host, one after the other.
    private func checked(
        _ name: String,
        _ packets: [HostilePacket],
        _ makeVictim: () -> ([HostilePacket]) -> String?
    ) -> Report {
        measured(name) {
            var tree = SequenceTree(packets, depth: depth, sample: sample, seed: seed)
            tree.walk(complaint: makeVictim())
            return (tree.sequences, tree.complaints)
        }
    }

    /// Repeats one packet, or two in turn, and checks that nothing grows beyond its limits.
    ///
    /// `rounds` is the number of repetitions: more than any limit of ``AttributeVictim``.
    func flood(_ part: AttributeVictim.Part, rounds: Int = 2000) -> Report {
        measured("flood, \(part.rawValue)") {
            let victim = AttributeVictim(part), packets = part.packets
            var random = SeededGenerator(seed: seed), complaints: [String] = []
            let pairs = packets.map { [$0, packets[Int(random.below(Int64(packets.count)))]] }
            let floods = packets.map { [$0] } + pairs
            for flood in floods {
                let growth = victim.growth(underFloodOf: flood, rounds: rounds)
                if growth > Self.tolerance { complaints.append("\(flood): \(growth) more") }
            }
            return (floods.count, complaints)
        }
    }

    /// The maximum growth of all queues together at those limits, in elements and octets.
    private static let tolerance = 1500

    private func measured(_ victim: String, _ attempt: () -> (Int, [String])) -> Report {
        var result: (sequences: Int, complaints: [String]) = (0, [])
        let elapsed = ContinuousClock().measure { result = attempt() }
        let seconds =
            Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds / 1_000_000_000_000_000) / 1000
        return Report(victim: victim, sequences: result.sequences, seconds: seconds, complaints: result.complaints)
    }
}
