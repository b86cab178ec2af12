import BLEHost
import BLEWire

/// A host with two links: the adversary has one after the other of the first, and somebody else keeps the second.
///
/// A host is never copied, so that each sequence of packets has a link of its own: what a link leaves behind adds up.
final class SignalVictim {
    /// What became of the adversary's present link.
    struct Record {
        var answers: [[UInt8]] = []
        /// All that was sent to the adversary on the signalling channel, and on others.
        var signals: [[UInt8]] = []
        var frames: [(channel: ChannelIdentifier, payload: [UInt8])] = []
        /// What apps heard of channels, of whichever link.
        var opened: [ChannelID] = []
        var channelEvents: [(id: ChannelID, event: ChannelEvent)] = []
        /// Channels that an app knows of.
        var open: [ChannelID] = []
        /// How often an app wanted a channel, and how often it heard what became of that.
        var wanted = 0
        var openings = 0
        /// What the app of the server was asked, and what that of the client heard of values.
        var asked: [Question] = []
        var heard: [(handle: UInt16, outcome: AttributeOracle.Outcome)] = []
        var sentElsewhere: [[UInt8]] = []
        var fault: String?

        /// Forgets what was sent and told so far.
        mutating func forget() {
            (answers, signals, frames, sentElsewhere) = ([], [], [], [])
            (opened, channelEvents) = ([], [])
            (asked, heard) = ([], [])
        }
    }

    /// What an app is asked: for a value, or whether it takes some.
    struct Question {
        let transaction: ServerTransaction
        /// `nil` if a value is wanted.
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
    /// Who has which address.
    var peers: [DeviceAddress: PeerIdentifier] = [:]
    private(set) var now = Instant()

    /// Creates a host that has the given role on all links; `bearerMTU` is what it takes on bearers that it offers.
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

    /// Lets the adversary send these packets on a link of its own, and says what went wrong; `nil` if nothing did.
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

    /// Has the host ask for something, so that an answer is due.
    private func prepare() {
        guard let peer = identify(Self.address) else { return check(false, "does not know the peer") }
        if role == .central {
            want(SPSM(wire: 0x0081), of: peer)
        } else {
            host.perform(.server(.setLatency(peer, .high)), for: Self.peripheral, at: now)
        }
        drain()
    }

    /// Has the app ask for a channel.
    func want(_ spsm: SPSM, of peer: PeerIdentifier) {
        record.wanted += 1
        host.perform(.peer(peer, .openChannel(spsm)), for: Self.central, at: now)
    }

    /// Lets time pass, and the host do what is due.
    func advance(by duration: Duration) {
        now = now + duration
        host.wake(at: now)
        drain()
    }

    func check(_ holds: Bool, _ complaint: @autoclosure () -> String) {
        if !holds, record.fault == nil { record.fault = complaint() }
    }
}
