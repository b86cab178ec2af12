import BLEWire

/// The attacks on a host with sequences of packets from a hostile peer.
struct Adversary {
    /// The result of the attacks on one victim, as a JSON line.
    struct Report: Encodable {
        let victim: String
        let sequences: Int
        let seconds: Double
        let complaints: [String]
    }

    let depth: Int
    let sample: Int?
    let seed: UInt64

    /// The attacks, one function for each victim.
    ///
    /// The functions are independent of each other.
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

    /// Attacks the given part of an attribute layer with sequences of ATT packets.
    func attributes(_ part: AttributeVictim.Part) -> Report {
        measured("attributes, \(part.rawValue)") {
            var tree = SequenceTree(part.packets, depth: depth, sample: sample, seed: seed)
            tree.walk(AttributeVictim(part))
            return (tree.sequences, tree.complaints)
        }
    }

    /// Attacks a host that has the given role with sequences of L2CAP packets, each sequence on a new link.
    func signals(_ role: HCI.Role) -> Report {
        checked("signals, \(role)", HostilePacket.signals) {
            let victim = SignalVictim(role)
            return { victim.complaint(about: $0) }
        }
    }

    /// Attacks a host that has the given role with sequences of packets: data on open channels, and signalling packets
    /// about these channels.
    func channels(_ role: HCI.Role) -> Report {
        checked("channels, \(role)", HostilePacket.channelPackets) {
            let victim = ChannelVictim(role)
            return { victim.complaint(about: $0) }
        }
    }

    /// Attacks a host with sequences of packets: ATT packets on enhanced and unenhanced bearers, and signalling packets
    /// about the enhanced ones.
    func bearers(_ scene: BearerScene) -> Report {
        checked("bearers, \(scene.rawValue)", scene.packets) {
            let victim = ChannelVictim(scene)
            return { victim.complaint(about: $0) }
        }
    }

    /// Attacks a whole host with sequences of `packets`.
    ///
    /// `makeVictim` creates the host, and returns a function that sends a sequence to it and returns the first fault,
    /// or `nil`. A host cannot be copied, so each sequence starts over on a new link.
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

    /// Attacks an attribute layer by repeating one packet, or two in turn, and checks that the layer's state does not
    /// grow without bound.
    ///
    /// `rounds` is the number of repetitions, which must be higher than any of ``AttributeVictim/limits``.
    func flood(_ part: AttributeVictim.Part, rounds: Int = 2000) -> Report {
        measured("flood, \(part.rawValue)") {
            let victim = AttributeVictim(part), packets = part.packets
            var random = SeededGenerator(seed: seed), complaints: [String] = []
            let pairs = packets.map { [$0, packets[Int(random.below(Int64(packets.count)))]] }
            let floods = packets.map { [$0] } + pairs
            for flood in floods {
                let growth = victim.growth(underFloodOf: flood, rounds: rounds)
                guard growth > Self.tolerance else { continue }
                complaints.append("\(flood): the state grows by \(growth) elements and octets in total")
            }
            return (floods.count, complaints)
        }
    }

    /// The maximum growth that is not a fault, in elements and octets.
    ///
    /// A layer whose queues are full has grown by up to this much.
    private static let tolerance = 1500

    private func measured(_ victim: String, _ attempt: () -> (Int, [String])) -> Report {
        var result: (sequences: Int, complaints: [String]) = (0, [])
        let elapsed = ContinuousClock().measure { result = attempt() }
        let seconds =
            Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds / 1_000_000_000_000_000) / 1000
        return Report(victim: victim, sequences: result.sequences, seconds: seconds, complaints: result.complaints)
    }
}
