import BLEHost
import BLEWire

/// A host under attack, with open channels on both links; its reactions are compared with the predictions of an oracle.
///
/// | host's identifier | peer's | opened by | state |
/// | --- | --- | --- | --- |
/// | 0x0040 | 0x0050 | the peer, with a separate request | the app reads everything |
/// | 0x0041 | 0x0054 | the peer, together with 0x0042 | the app does not read; one of its own SDUs waits for a credit |
/// | 0x0042 | 0x0055 | the peer, together with 0x0041 | the app has closed it, and the peer has not responded |
/// | 0x0043 | 0x0060 | the host, if it is a central | the app reads everything |
///
/// Alternatively, the channels are Enhanced ATT bearers; see ``BearerScene``.
final class ChannelVictim {
    /// A channel that belongs to an app: the host's identifier for the channel, and the app.
    struct End {
        let local: ChannelIdentifier
        let client: ClientID
    }

    /// The channel that the app does not read.
    private static let unread = ChannelIdentifier(wire: 0x0041)

    let base: SignalVictim
    var oracle: ChannelOracle
    /// The state of the link at the start if the channels are bearers; otherwise `nil`.
    let scene: BearerScene?
    private var ends: [ChannelID: End] = [:]
    /// The channel to the honest peer; `nil` if the channels are bearers.
    private var other: ChannelID?
    /// The peer's reads that wait for the server's app.
    var held: [ServerTransaction] = []

    init(_ role: HCI.Role) {
        scene = nil
        base = SignalVictim(role, limits: Self.limits)
        oracle = ChannelOracle(role)
        base.deliver(
            [0x14, 0x31, 10, 0, 0x80, 0, 0x50, 0, 64, 0, 64, 0, 5, 0],
            on: .leSignaling,
            of: AttributeVictim.other
        )
        base.drain()
        other = base.record.open.first
    }

    init(_ scene: BearerScene) {
        self.scene = scene
        base = SignalVictim(scene.role, limits: Self.limits, bearerMTU: ChannelOracle.size)
        oracle = ChannelOracle(scene.role)
        prepareBearers()
    }

    private static var limits: Limits {
        var limits = Limits()
        (limits.channelMTU, limits.channelPacket) = (ChannelOracle.size, ChannelOracle.size)
        limits.channelCredits = ChannelOracle.window
        return limits
    }

    /// Makes the adversary send `sequence` on a new link; returns the first fault of the host, or `nil` if there is
    /// none.
    func complaint(about sequence: [HostilePacket]) -> String? {
        begin()
        for packet in sequence { step(packet) }
        if scene == nil {
            base.checkLinks()
            checkChannels()
            base.disconnect()
        } else {
            checkBearers()
        }
        return base.record.fault
    }

    /// Creates the adversary's link and its channels.
    func begin() {
        base.record = .init()
        (oracle, ends, held) = (ChannelOracle(base.role), [:], [])
        base.connect(AttributeVictim.link, SignalVictim.address)
        if let scene { return begin(scene) }
        step(.init("14 31 0a00 8000 5000 4000 4000 0500", .anything, channel: 5))
        step(.init("17 32 0c00 8000 5000 4800 0100 5400 5500", .anything, channel: 5))
        let names = oracle.channels.map(\.local.wire)
        base.check(names == [0x40, 0x41, 0x42], "uses unexpected channel identifiers: \(names)")
        close(ChannelIdentifier(wire: 0x0042))
        for unit: [UInt8] in [[1, 2, 3], [4, 5]] { send(unit, on: Self.unread) }
        if base.role == .central { open() }
    }

    /// Makes the host open a channel, and the peer accept it.
    private func open() {
        base.record.forget()
        guard let peer = base.identify(SignalVictim.address) else { return base.check(false, "does not find the peer") }
        base.requestChannel(SPSM(wire: 0x81), of: peer)
        base.drain()
        guard let request = base.record.signals.first, request.count > 2, base.record.signals.count == 1 else {
            let signals = base.record.signals.map(\.hexadecimal)
            return base.check(false, "sends unexpected signals to open a channel: \(signals)")
        }
        base.deliver(
            [0x15, request[1], 10, 0, 0x60, 0, 64, 0, 64, 0, 5, 0, 0, 0],
            on: .leSignaling,
            of: AttributeVictim.link
        )
        base.drain()
        guard let channel = base.record.opened.first else { return base.check(false, "does not open a channel") }
        let local = ChannelIdentifier(wire: UInt16(request[6]) | UInt16(request[7]) << 8)
        ends[channel] = End(local: local, client: SignalVictim.central)
        oracle.unnamed = [
            .init(remote: .init(wire: 0x60), isEnhanced: false, mtu: 64, mps: 64, granted: 5)
        ]
        base.check(oracle.name([local]), "uses an unexpected channel identifier: \(local)")
    }

    /// Makes the peer send a packet, and compares the host's reaction with the prediction.
    func step(_ packet: HostilePacket) {
        base.record.forget()
        oracle.noteCredits()
        let expected: ChannelOracle.Reaction =
            switch packet.channel {
            case .leSignaling: oracle.receiveSignal(packet.octets)
            case .attribute: oracle.predictAttribute(packet.octets, on: .attribute)
            default: oracle.receive(packet.octets, on: packet.channel)
            }
        base.deliver(packet.octets, on: packet.channel, of: AttributeVictim.link)
        base.drain()
        consume()
        compare(with: expected, after: "\(packet) on \(packet.channel)")
    }

    private func close(_ local: ChannelIdentifier) {
        base.record.forget()
        let expected = oracle.close(local)
        perform(.close, on: local)
        compare(with: expected, after: "an app's request to close \(local)")
    }

    private func send(_ unit: [UInt8], on local: ChannelIdentifier) {
        base.record.forget()
        let expected = oracle.send(unit, on: local)
        perform(.send(unit), on: local)
        compare(with: expected, after: "an app's SDU on \(local)")
    }

    /// Records that a channel belongs to the server's app.
    func recordOwner(_ id: ChannelID, _ local: ChannelIdentifier) {
        ends[id] = End(local: local, client: SignalVictim.peripheral)
    }

    /// Returns the host's identifier for an app's channel; `nil` if no app owns the channel.
    func name(of id: ChannelID) -> ChannelIdentifier? { ends[id]?.local }

    private func perform(_ request: ChannelRequest, on local: ChannelIdentifier) {
        guard let (id, end) = ends.first(where: { $1.local == local }) else { return }
        base.host.perform(.channel(id, request), for: end.client, at: base.now)
        base.drain()
    }

    /// Makes the apps accept all writes, keep all reads for later, and consume the data of all channels except
    /// ``unread``.
    func consume() {
        var next = 0
        // A response lets the host pass on the next request, so the list may grow.
        while next < base.record.asked.count {
            let question = base.record.asked[next]
            next += 1
            guard question.parts != nil else {
                held.append(question.transaction)
                continue
            }
            base.host.perform(
                .service(.respond(question.transaction, .success([]))),
                for: SignalVictim.peripheral,
                at: base.now
            )
            base.drain()
        }
        for (id, event) in base.record.channelEvents {
            guard case .received(let unit) = event, let end = ends[id], end.local != Self.unread else { continue }
            base.host.perform(.channel(id, .consumed(unit.count)), for: end.client, at: base.now)
        }
        base.drain()
    }

    /// Checks that open channels still work on both links, and that nothing happens on closed channels.
    private func checkChannels() {
        for channel in oracle.channels {
            let rest = channel.unit.map { [UInt8](repeating: 9, count: $0.length - $0.octets.count) }
            let octets = rest ?? [2, 0, 7, 7]
            if channel.credits > 0 || channel.isClosing {
                step(.init(octets: octets, .anything, channel: channel.local))
            }
            send([8, 8], on: channel.local)
        }
        guard let other else { return base.check(false, "has no channel to another peer") }
        base.record.forget()
        base.deliver([3, 0, 1, 2, 3], on: .init(wire: 0x40), of: AttributeVictim.other)
        base.deliver([0x16, 0x31, 4, 0, 0x50, 0, 1, 0], on: .leSignaling, of: AttributeVictim.other)
        base.drain()
        base.host.perform(.channel(other, .consumed(3)), for: SignalVictim.peripheral, at: base.now)
        base.host.perform(.channel(other, .send([6])), for: SignalVictim.peripheral, at: base.now)
        base.drain()
        let results = base.record.channelEvents.filter { $0.id == other }.map(\.event)
        base.check(results == [.received([1, 2, 3]), .sent(1)], "reports \(results) for another peer")
        let sent = base.record.sentElsewhere.filter { $0.first != 0x16 }
        base.check(sent == [[1, 0, 6]], "sends \(sent.map(\.hexadecimal)) to another peer")
    }
}
