import BLEHost
import BLEWire

/// A host with a fake controller, and a record of all that the host said.
final class Rig {
    var host: Host
    var controller: FakeController
    private(set) var now = Instant()
    private(set) var commands: [HCICommandPacket] = []
    /// The L2CAP frames that were sent, by link.
    private(set) var frames: [(link: ConnectionHandle, channel: ChannelIdentifier, payload: [UInt8])] = []
    private(set) var events: [(client: ClientID, event: ClientEvent)] = []
    private(set) var notes: [Note] = []
    private(set) var remembered: [PeerRecord] = []
    private(set) var recalled: [VirtualRadio] = []
    private(set) var transportResets = 0
    private var hasAgent = false
    /// Whether the ACL buffers are given back at once.
    var returnsBuffers = true
    /// What the peer of every link answers to an ATT packet.
    var peer: (ATTPacket) -> ATTPacket? = { _ in nil }

    static let central = ClientID(rawValue: 1)
    static let otherCentral = ClientID(rawValue: 2)
    static let peripheral = ClientID(rawValue: 3)
    static let agent = ClientID(rawValue: 4)

    init(_ controller: FakeController = .old, configuration: Host.Configuration = .init(identifierSecret: 42)) {
        self.controller = controller
        host = Host(configuration: configuration, random: SeededGenerator(seed: 1))
    }

    /// A rig whose controller is ready, with one client of each role.
    static func ready(
        _ controller: FakeController = .old,
        configuration: Host.Configuration = .init(identifierSecret: 42)
    ) -> Rig {
        let rig = Rig(controller, configuration: configuration)
        rig.host.open(central, role: .central, at: rig.now)
        rig.host.open(peripheral, role: .peripheral, at: rig.now)
        rig.host.transportOpened(at: rig.now)
        rig.pump()
        return rig
    }

    /// Does what the host says until it says nothing more.
    func pump() {
        while let output = host.next() {
            switch output {
            case .packet(let packet): take(packet)
            case .event(let event, let client): events.append((client, event))
            case .remember(let record): remembered.append(record)
            case .loadPeers(let radio): recalled.append(radio)
            case .resetTransport: transportResets += 1
            case .note(let note): notes.append(note)
            }
        }
    }

    private func take(_ packet: [UInt8]) {
        guard packet.first == HCI.PacketType.command.wire else { return takeData(packet) }
        guard let command = try? HCICommandPacket(decoding: Array(packet.dropFirst())) else {
            preconditionFailure("the host sent no command: \(packet)")
        }
        commands.append(command)
        if let answer = controller.answer(to: command) { host.receive(answer.encoded.span, at: now) }
    }

    private func takeData(_ packet: [UInt8]) {
        let link = ConnectionHandle(wire: UInt16(packet[1]) | UInt16(packet[2] & 0x0F) << 8) ?? .lowest
        let fragment = Array(packet.dropFirst(5))
        if packet[2] >> 4 == 1, let last = frames.lastIndex(where: { $0.link == link }) {
            frames[last].payload += fragment
        } else {
            let channel = ChannelIdentifier(wire: UInt16(fragment[2]) | UInt16(fragment[3]) << 8)
            frames.append((link, channel, Array(fragment.dropFirst(4))))
        }
        if returnsBuffers {
            inject(.numberOfCompletedPackets(.init(completed: [.init(handle: link, count: 1)])), pumps: false)
        }
        guard let frame = frames.last(where: { $0.link == link }), frame.channel == .attribute,
            let request = try? ATTPacket(decoding: frame.payload), let answer = peer(request)
        else { return }
        deliver(answer.encoded, on: .attribute, of: link)
    }

    func inject(_ event: HCIEventPacket, pumps: Bool = true) {
        host.receive(event.encoded.span, at: now)
        if pumps { pump() }
    }

    /// Has the peer of a link send one L2CAP packet.
    func deliver(_ payload: [UInt8], on channel: ChannelIdentifier, of link: ConnectionHandle) {
        var encoder = PacketEncoder()
        encoder.append(octet: HCI.PacketType.acl.wire)
        let length = UInt16(payload.count)
        ACLHeader(handle: link, boundary: .firstFromController, length: length + 4).encode(into: &encoder)
        L2CAPHeader(length: length, channel: channel).encode(into: &encoder)
        encoder.append(contentsOf: payload)
        host.receive(encoder.bytes.span, at: now)
    }

    /// Asks about pairing in a session for that, which is opened the first time.
    func ask(_ request: SecurityRequest) {
        if !hasAgent { host.open(Self.agent, role: .agent, at: now) }
        hasAgent = true
        perform(.security(request), for: Self.agent)
    }

    func perform(_ request: ClientRequest, for client: ClientID = central) {
        host.perform(request, for: client, at: now)
        pump()
    }

    /// Lets time pass, waking the host whenever it asks for that.
    func advance(by duration: Duration) {
        let end = now + duration
        while let deadline = host.deadline, deadline <= end {
            now = max(now, deadline)
            host.wake(at: now)
            pump()
        }
        now = end
        host.wake(at: now)
        pump()
    }

    /// Has the controller report a link.
    func connect(
        _ address: DeviceAddress,
        _ handle: UInt16 = 0x40,
        role: HCI.Role = .central,
        status: HCI.Status = .success,
        interval: UInt16 = 24
    ) {
        inject(
            .leConnectionComplete(
                .init(
                    status: status,
                    handle: ConnectionHandle(wire: handle) ?? .lowest,
                    role: role,
                    peer: address,
                    interval: .init(wire: interval),
                    latency: .init(wire: 0),
                    timeout: .init(wire: 200)
                )
            )
        )
    }

    func disconnect(_ handle: UInt16 = 0x40, reason: HCI.Status = .remoteUserTerminatedConnection) {
        let handle = ConnectionHandle(wire: handle) ?? .lowest
        inject(.disconnectionComplete(.init(status: .success, handle: handle, reason: reason)))
    }

    /// Has the controller hear a legacy advertisement.
    func hear(
        _ type: HCI.LEAdvertisingReport.EventType,
        from address: DeviceAddress,
        _ data: [UInt8] = [],
        rssi: Int8 = -50
    ) {
        let report = HCI.LEAdvertisingReport.Report(
            type: type,
            address: address,
            data: data,
            rssi: RSSI(dBm: rssi)
        )
        inject(.leAdvertisingReport(.init(reports: [report])))
    }

    /// What one client heard.
    func events(of client: ClientID) -> [ClientEvent] { events.filter { $0.client == client }.map(\.event) }

    /// What one client discovered.
    func discoveries(of client: ClientID = central) -> [AdvertisementReport] {
        events(of: client).compactMap { if case .discovered(let report) = $0 { report } else { nil } }
    }

    /// Has a client hear of a peer, so that it can connect to it.
    func discover(_ address: DeviceAddress) -> PeerIdentifier {
        perform(.scan(ScanRequest()))
        hear(.connectable, from: address)
        advance(by: .milliseconds(20))
        perform(.stopScan)
        guard let report = discoveries().last(where: { $0.address == address }) else {
            preconditionFailure("the peer was not heard")
        }
        return report.peer
    }

    func forget() {
        commands.removeAll()
        events.removeAll()
        notes.removeAll()
        frames.removeAll()
    }
}
