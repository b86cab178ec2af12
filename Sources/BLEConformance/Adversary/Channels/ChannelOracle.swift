import BLEHost
import BLEWire

/// What the peer of a host may expect of the channels between them: a second reading of the specification, with which
/// the host's own is compared.
///
/// What the specification leaves to the host is not foretold: names of channels, identifiers, and when credits are
/// given. Those are told to the oracle, which says whether they may be.
///
/// Core 6.0, Vol 3, Part A, 3.4.3, 4 and 10.
struct ChannelOracle {
    /// A channel as its two ends know it.
    struct Channel {
        /// What the host and what the peer names it.
        var local = ChannelIdentifier.none
        var remote: ChannelIdentifier
        var isEnhanced: Bool
        /// Whether it is an Enhanced ATT bearer.
        var isBearer = false
        /// How many more packets the peer may send.
        var credits = ChannelOracle.window
        /// The unit that the peer has begun, and how long it is to be.
        var unit: (octets: [UInt8], length: Int)?
        /// The sizes that the peer takes, the credits that it gave, and the packets that wait for more.
        var mtu: UInt16
        var mps: UInt16
        var granted: Int
        var waiting: [[UInt8]] = []
        /// Whether the host has asked to close it, and with which identifier if that is known.
        var isClosing = false
        var request: SignalIdentifier?
    }

    /// What a host does about something.
    struct Reaction: Equatable {
        var answers: [Answer] = []
        var frames: [Frame] = []
        var events: [Event] = []
    }

    /// What a host says on the signalling channel.
    enum Answer: Equatable {
        case signal(SignalPacket)
        /// It asks for a channel to be closed.
        case closing(destination: ChannelIdentifier, source: ChannelIdentifier)
        /// It opens channels where there is `true`.
        case opening(SignalIdentifier, Signal.ConnectionResult, [Bool])
    }

    /// A packet of a channel, by the name that the peer has for it.
    struct Frame: Equatable {
        var channel: ChannelIdentifier
        var payload: [UInt8]
    }

    /// What apps of the host hear of a channel, by the name that the host has for it.
    enum Event: Equatable {
        case opened
        case received(ChannelIdentifier, [UInt8])
        case closed(ChannelIdentifier, Failure?)
        /// Its server is asked for a value, or whether it takes these.
        case askedToRead
        case askedToWrite([WritePart])
    }

    /// What the host takes, as it is configured: the same for packets and for units, in octets.
    static let size = 64
    /// The credits that the host gives at most.
    static let window = 2
    /// What the host lets peers open.
    static let spsm = SPSM(wire: 0x0080)
    /// The bearers of a link that peers may open.
    static let bearers = 5

    let role: HCI.Role
    var channels: [Channel] = []
    /// Channels that the host is about to name.
    var unnamed: [Channel] = []
    /// Bearers that the host has asked for, and how often it has.
    var openings: [Opening] = []
    var openingCount = 0
    /// What is behind bearers; `nil` if the host offers none.
    var attributes: AttributeOracle?

    init(_ role: HCI.Role, attributes: AttributeOracle? = nil) {
        self.role = role
        self.attributes = attributes
    }

    /// Foretells what comes of a packet on the channel that the host names so.
    mutating func receive(_ payload: [UInt8], on local: ChannelIdentifier) -> Reaction {
        guard let index = channels.firstIndex(where: { $0.local == local }), !channels[index].isClosing else {
            return Reaction()
        }
        guard channels[index].credits > 0, payload.count <= Self.size else { return breach(index) }
        channels[index].credits -= 1
        var (octets, length): ([UInt8], Int)
        if let begun = channels[index].unit {
            (octets, length) = (begun.octets + payload, begun.length)
        } else {
            guard payload.count >= 2 else { return breach(index) }
            (octets, length) = ([UInt8](payload.dropFirst(2)), Int(payload[0]) + 256 * Int(payload[1]))
        }
        guard length <= Self.size, octets.count <= length else { return breach(index) }
        channels[index].unit = octets.count < length ? (octets, length) : nil
        guard octets.count == length, length > 0 else { return Reaction() }
        return channels[index].isBearer
            ? hear(octets, on: local) : Reaction(events: [.received(local, octets)])
    }

    /// The peer has broken the rules of a channel.
    mutating func breach(_ index: Int) -> Reaction {
        guard !channels[index].isClosing else { return Reaction() }
        return end(index, .peerMisbehaved)
    }

    /// An app of the host closes a channel for which nothing waits.
    mutating func close(_ local: ChannelIdentifier) -> Reaction {
        guard let index = channels.firstIndex(where: { $0.local == local }) else { return Reaction() }
        return end(index, nil)
    }

    private mutating func end(_ index: Int, _ failure: Failure?) -> Reaction {
        let channel = channels[index]
        channels[index].isClosing = true
        channels[index].waiting = []
        var reaction = Reaction(answers: [.closing(destination: channel.remote, source: channel.local)])
        reaction.add(gone(channel, failure))
        return reaction
    }

    /// An app of the host sends a unit that fits into one packet.
    mutating func send(_ unit: [UInt8], on local: ChannelIdentifier) -> Reaction {
        guard let index = channels.firstIndex(where: { $0.local == local }), !channels[index].isClosing else {
            return Reaction()
        }
        channels[index].waiting.append([UInt8(truncatingIfNeeded: unit.count), 0] + unit)
        return pump(index)
    }

    /// Sends what there are credits for.
    mutating func pump(_ index: Int) -> Reaction {
        var reaction = Reaction()
        while channels[index].granted > 0, !channels[index].waiting.isEmpty, !channels[index].isClosing {
            channels[index].granted -= 1
            reaction.frames.append(
                Frame(channel: channels[index].remote, payload: channels[index].waiting.removeFirst())
            )
        }
        return reaction
    }
}
