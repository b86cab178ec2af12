import BLEHost
import BLEWire

/// A host under attack, with a permanent link to an honest peer and a new link to the adversary for each sequence of
/// packets.
///
/// Unlike an ``AttributeVictim``, this victim is never copied: all sequences attack the same host, each on a link of
/// its own. So any state that a link leaves behind in the host adds up.
final class SignalVictim {
    /// A record of the host's packets and events since the adversary's current link began.
    struct Record {
        var answers: [[UInt8]] = []
        /// The host's packets to the adversary on the signalling channel; ``frames`` has those on other channels.
        var signals: [[UInt8]] = []
        var frames: [(channel: ChannelIdentifier, payload: [UInt8])] = []
        /// The channels that the host has reported to apps as opened, on any link; ``channelEvents`` has the other
        /// events.
        var opened: [ChannelID] = []
        var channelEvents: [(id: ChannelID, event: ChannelEvent)] = []
        /// The channels that are open for an app.
        var open: [ChannelID] = []
        /// The number of channels that an app has requested; ``openings`` is the number of results that it has
        /// received.
        var wanted = 0
        var openings = 0
        /// The requests to the server's app; ``results`` has the results that the client's app has received.
        var asked: [Question] = []
        var results: [(handle: UInt16, outcome: AttributeOracle.Outcome)] = []
        var sentElsewhere: [[UInt8]] = []
        var fault: String?

        /// Clears the packets and events.
        ///
        /// Keeps ``open``, ``wanted``, ``openings`` and ``fault``.
        mutating func forget() {
            (answers, signals, frames, sentElsewhere) = ([], [], [], [])
            (opened, channelEvents) = ([], [])
            (asked, results) = ([], [])
        }
    }

    /// A request from the host to an app: to provide a value, or to accept writes.
    struct Question {
        let transaction: ServerTransaction
        /// The parts of a write; `nil` for a read.
        let parts: [WritePart]?
    }

    static let address = DeviceAddress(0x0000_AAAA_AAAA_0001, .public)
    static let otherAddress = DeviceAddress(0x0000_AAAA_AAAA_0002, .public)
    static let central = ClientID(rawValue: 1)
    static let peripheral = ClientID(rawValue: 2)
    static let name = "Victim"

    let role: HCI.Role
    var host: Host
    var record = Record()
    /// The host's identifiers of peers, by address.
    var peers: [DeviceAddress: PeerIdentifier] = [:]
    private(set) var now = Instant()

    /// Creates a host that has the given role on all links.
    ///
    /// `bearerMTU` is the host's MTU on Enhanced ATT bearers; `nil` for the maximum.
    init(_ role: HCI.Role, limits: Limits = Limits(), bearerMTU: Int? = nil) {
        self.role = role
        host = Host(
            configuration: .init(
                name: Self.name,
                identifierSecret: 7,
                preferredMTU: bearerMTU ?? ATT.maximumMTU,
                limits: limits
            ),
            random: SeededGenerator(seed: 1)
        )
        host.open(Self.central, role: .central, at: now)
        host.open(Self.peripheral, role: .peripheral, at: now)
        host.transportOpened(at: now)
        drain()
        host.perform(.server(.publishChannel(encryptionRequired: false)), for: Self.peripheral, at: now)
        drain()
        connect(AttributeVictim.other, Self.otherAddress)
        record = Record()
    }

    /// Makes the adversary send `sequence` on a new link; returns the first fault of the host, or `nil` if there is
    /// none.
    func complaint(about sequence: [HostilePacket]) -> String? {
        record = Record()
        connect(AttributeVictim.link, Self.address)
        prepare()
        record.answers = []
        for packet in sequence {
            deliver(packet.octets, on: packet.channel, of: AttributeVictim.link)
            drain()
        }
        check(sequence)
        disconnect()
        return record.fault
    }

    /// Makes the host send, on the signalling channel, a request that the adversary may answer.
    private func prepare() {
        guard let peer = identify(Self.address) else { return check(false, "does not find the peer") }
        if role == .central {
            requestChannel(SPSM(wire: 0x0081), of: peer)
        } else {
            host.perform(.server(.setLatency(peer, .high)), for: Self.peripheral, at: now)
        }
        drain()
    }

    /// Makes the client's app request a channel.
    func requestChannel(_ spsm: SPSM, of peer: PeerIdentifier) {
        record.wanted += 1
        host.perform(.peer(peer, .openChannel(spsm)), for: Self.central, at: now)
    }

    /// Advances time, and lets the host do everything that is due by then.
    func advance(by duration: Duration) {
        now = now + duration
        host.wake(at: now)
        drain()
    }

    func check(_ holds: Bool, _ complaint: @autoclosure () -> String) {
        if !holds, record.fault == nil { record.fault = complaint() }
    }
}
