import BLEHost
import BLEWire

/// A host with two links: the adversary uses the first one, which is replaced after each sequence; an honest peer keeps
/// the second.
///
/// A host is never copied, so each sequence has its own link, and anything that a link leaves behind adds up.
final class SignalVictim {
    /// The record of the adversary's current link.
    struct Record {
        var answers: [[UInt8]] = []
        /// The packets to the adversary on the signalling channel and on others.
        var signals: [[UInt8]] = []
        var frames: [(channel: ChannelIdentifier, payload: [UInt8])] = []
        /// The channel events of apps, on any link.
        var opened: [ChannelID] = []
        var channelEvents: [(id: ChannelID, event: ChannelEvent)] = []
        /// The channels that an app knows.
        var open: [ChannelID] = []
        /// The number of channels that an app requested, and of results that it received.
        var wanted = 0
        var openings = 0
        /// The requests to the server's app, and the values that the client's app received.
        var asked: [Question] = []
        var heard: [(handle: UInt16, outcome: AttributeOracle.Outcome)] = []
        var sentElsewhere: [[UInt8]] = []
        var fault: String?

        /// Clears the record.
        mutating func forget() {
            (answers, signals, frames, sentElsewhere) = ([], [], [], [])
            (opened, channelEvents) = ([], [])
            (asked, heard) = ([], [])
        }
    }

    /// A request to an app: to return a value, or to accept writes.
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
    /// The peers by address.
    var peers: [DeviceAddress: PeerIdentifier] = [:]
    private(set) var now = Instant()

    /// Creates a host that has the given role on all links; `bearerMTU` is its MTU on bearers that it offers.
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

    /// Makes the adversary send these packets on a new link and returns the fault; `nil` if there is none.
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

    /// Makes the host send a request, so that an answer is due.
    private func prepare() {
        guard let peer = identify(Self.address) else { return check(false, "does not know the peer") }
        if role == .central {
            want(SPSM(wire: 0x0081), of: peer)
        } else {
            host.perform(.server(.setLatency(peer, .high)), for: Self.peripheral, at: now)
        }
        drain()
    }

    /// Makes the app request a channel.
    func want(_ spsm: SPSM, of peer: PeerIdentifier) {
        record.wanted += 1
        host.perform(.peer(peer, .openChannel(spsm)), for: Self.central, at: now)
    }

    /// Advances time and lets the host do what is due.
    func advance(by duration: Duration) {
        now = now + duration
        host.wake(at: now)
        drain()
    }

    func check(_ holds: Bool, _ complaint: @autoclosure () -> String) {
        if !holds, record.fault == nil { record.fault = complaint() }
    }
}
