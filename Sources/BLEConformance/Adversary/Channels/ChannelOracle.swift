import BLEHost
import BLEWire

/// Predicts how a host must treat its channels: a second implementation of the specification, to compare the host with.
///
/// Decisions that the specification leaves to the host are not predicted: channel identifiers, signal identifiers, and
/// the times of credits. The oracle is given these and says whether they are allowed.
///
/// Core 6.0, Vol 3, Part A, 3.4.3, 4 and 10.
struct ChannelOracle {
    /// A channel with the identifiers of both ends.
    struct Channel {
        /// The identifiers of the host and of the peer.
        var local = ChannelIdentifier.none
        var remote: ChannelIdentifier
        var isEnhanced: Bool
        /// True if it is an Enhanced ATT bearer.
        var isBearer = false
        /// The number of packets that the peer may still send.
        var credits = ChannelOracle.window
        /// The unfinished SDU of the peer, and its length.
        var unit: (octets: [UInt8], length: Int)?
        /// The peer's MTU, MPS and credits, and the packets that wait for credits.
        var mtu: UInt16
        var mps: UInt16
        var granted: Int
        var waiting: [[UInt8]] = []
        /// True if the host has asked to close it, and the signal identifier if known.
        var isClosing = false
        var request: SignalIdentifier?
    }

    /// The actions of a host after a packet or an action of an app.
    struct Reaction: Equatable {
        var answers: [Answer] = []
        var frames: [Frame] = []
        var events: [Event] = []
    }

    /// An answer of a host on the signalling channel.
    enum Answer: Equatable {
        case signal(SignalPacket)
        /// It requests to close a channel.
        case closing(destination: ChannelIdentifier, source: ChannelIdentifier)
        /// It opens the channels whose entry is `true`.
        case opening(SignalIdentifier, Signal.ConnectionResult, [Bool])
    }

    /// A packet of a channel, with the peer's channel identifier.
    struct Frame: Equatable {
        var channel: ChannelIdentifier
        var payload: [UInt8]
    }

    /// An event of a channel for apps of the host, with the host's channel identifier.
    enum Event: Equatable {
        case opened
        case received(ChannelIdentifier, [UInt8])
        case closed(ChannelIdentifier, Failure?)
        /// Its server is asked for a value, or whether to accept these values.
        case askedToRead
        case askedToWrite([WritePart])
    }

    /// The MTU and MPS of the host in octets; both are the same.
    static let size = 64
    /// The maximum number of credits that the host gives.
    static let window = 2
    /// The PSM that the host offers to peers.
    static let spsm = SPSM(wire: 0x0080)
    /// The maximum number of bearers that peers may open on a link.
    static let bearers = 5

    let role: HCI.Role
    var channels: [Channel] = []
    /// Channels that the host will name next.
    var unnamed: [Channel] = []
    /// The requests of the host for bearers, and their number.
    var openings: [Opening] = []
    var openingCount = 0
    /// The attributes behind the bearers; `nil` if the host offers none.
    var attributes: AttributeOracle?

    init(_ role: HCI.Role, attributes: AttributeOracle? = nil) {
        self.role = role
        self.attributes = attributes
    }

    /// Predicts the result of a packet on the channel with this identifier of the host.
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

    /// Handles a violation of the channel's rules by the peer.
    mutating func breach(_ index: Int) -> Reaction {
        guard !channels[index].isClosing else { return Reaction() }
        return end(index, .peerMisbehaved)
    }

    /// An app of the host closes a channel with nothing left to send.
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

    /// An app of the host sends an SDU that fits into one packet.
    mutating func send(_ unit: [UInt8], on local: ChannelIdentifier) -> Reaction {
        guard let index = channels.firstIndex(where: { $0.local == local }), !channels[index].isClosing else {
            return Reaction()
        }
        channels[index].waiting.append([UInt8(truncatingIfNeeded: unit.count), 0] + unit)
        return pump(index)
    }

    /// Sends as much as the credits allow.
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
