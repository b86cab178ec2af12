import BLEHost
import BLEWire

/// A model of a host's channels, which predicts how the host must react to packets and apps.
///
/// It is a second implementation of the specification, with which the host is compared. It does not predict the
/// decisions that the specification leaves to the host: channel identifiers, signal identifiers, and when to give
/// credits. The oracle receives these decisions, and says whether they are allowed.
///
/// Core 6.0, Vol 3, Part A, 3.4.3, 4 and 10.
struct ChannelOracle {
    /// The state of a channel.
    struct Channel {
        /// The host's identifier for the channel; ``remote`` is the peer's.
        var local = ChannelIdentifier.none
        var remote: ChannelIdentifier
        var isEnhanced: Bool
        /// True if the channel is an Enhanced ATT bearer.
        var isBearer = false
        /// The number of packets that the peer may still send.
        var credits = ChannelOracle.window
        /// The received part of an unfinished SDU from the peer, and the length of the whole SDU; `nil` if no SDU is
        /// unfinished.
        var unit: (octets: [UInt8], length: Int)?
        /// The peer's MTU in octets; ``mps`` is its MPS.
        ///
        /// ``granted`` is the number of packets that the host may still send, and ``waiting`` has the packets that wait
        /// for credits.
        var mtu: UInt16
        var mps: UInt16
        var granted: Int
        var waiting: [[UInt8]] = []
        /// True if the host has requested to close the channel.
        ///
        /// ``request`` is the signal identifier of the request, if known.
        var isClosing = false
        var request: SignalIdentifier?
    }

    /// The actions that the host takes after a packet, or after an app's request.
    struct Reaction: Equatable {
        var answers: [Answer] = []
        var frames: [Frame] = []
        var events: [Event] = []
    }

    /// A packet from the host on the signalling channel.
    enum Answer: Equatable {
        case signal(SignalPacket)
        /// A request to close a channel.
        case closing(destination: ChannelIdentifier, source: ChannelIdentifier)
        /// A response to a request for channels.
        ///
        /// The list has an entry for each requested channel: true if the response opens the channel.
        case opening(SignalIdentifier, Signal.ConnectionResult, [Bool])
    }

    /// A packet from the host on a channel, with the peer's identifier for the channel.
    struct Frame: Equatable {
        var channel: ChannelIdentifier
        var payload: [UInt8]
    }

    /// An event that the host reports to an app, with the host's identifier of the channel.
    enum Event: Equatable {
        case opened
        case received(ChannelIdentifier, [UInt8])
        case closed(ChannelIdentifier, Failure?)
        /// The host asks the server's app for a value.
        case askedToRead
        case askedToWrite([WritePart])
    }

    /// The host's MTU and MPS, which are equal, in octets.
    static let size = 64
    /// The maximum number of credits that the peer has at a time on a channel.
    static let window = 2
    /// The PSM that the host offers to peers.
    static let spsm = SPSM(wire: 0x0080)
    /// The maximum number of Enhanced ATT bearers on a link, at which the host refuses the peer's requests for more.
    static let bearers = 5

    let role: HCI.Role
    var channels: [Channel] = []
    /// The open channels for which the oracle does not know the host's identifiers yet.
    var unnamed: [Channel] = []
    /// The host's pending requests for bearers; ``openingCount`` is the number of all such requests so far.
    var openings: [Opening] = []
    var openingCount = 0
    /// The model of the attributes that the host serves on bearers; `nil` if the host does not accept bearers.
    var attributes: AttributeOracle?

    init(_ role: HCI.Role, attributes: AttributeOracle? = nil) {
        self.role = role
        self.attributes = attributes
    }

    /// Predicts the reaction of the host to a packet on the channel with the host's identifier `local`.
    mutating func receive(_ payload: [UInt8], on local: ChannelIdentifier) -> Reaction {
        guard let index = channels.firstIndex(where: { $0.local == local }), !channels[index].isClosing else {
            return Reaction()
        }
        guard channels[index].credits > 0, payload.count <= Self.size else { return reactionToViolation(index) }
        channels[index].credits -= 1
        var (octets, length): ([UInt8], Int)
        if let begun = channels[index].unit {
            (octets, length) = (begun.octets + payload, begun.length)
        } else {
            guard payload.count >= 2 else { return reactionToViolation(index) }
            (octets, length) = ([UInt8](payload.dropFirst(2)), Int(payload[0]) + 256 * Int(payload[1]))
        }
        guard length <= Self.size, octets.count <= length else { return reactionToViolation(index) }
        channels[index].unit = octets.count < length ? (octets, length) : nil
        guard octets.count == length, length > 0 else { return Reaction() }
        return channels[index].isBearer
            ? predictAttribute(octets, on: local) : Reaction(events: [.received(local, octets)])
    }

    /// Predicts the reaction of the host if the peer violates the rules of the channel at this index in ``channels``.
    mutating func reactionToViolation(_ index: Int) -> Reaction {
        guard !channels[index].isClosing else { return Reaction() }
        return end(index, .peerMisbehaved)
    }

    /// Predicts the reaction of the host if an app closes a channel on which nothing is left to send.
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

    /// Predicts the reaction of the host if an app sends an SDU that fits into one packet.
    mutating func send(_ unit: [UInt8], on local: ChannelIdentifier) -> Reaction {
        guard let index = channels.firstIndex(where: { $0.local == local }), !channels[index].isClosing else {
            return Reaction()
        }
        channels[index].waiting.append([UInt8(truncatingIfNeeded: unit.count), 0] + unit)
        return sendWaiting(index)
    }

    /// Predicts which waiting packets the host sends with the credits that it has.
    mutating func sendWaiting(_ index: Int) -> Reaction {
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
