import BLEHost
import BLEWire

/// An end of channels, which sends a number of octets on each and checks what it receives.
class ChannelApp: App {
    /// What is known of one channel.
    struct Flow {
        let mtu: Int
        /// Octets handed to the host, and of these those that it says have left.
        var written = 0
        var left = 0
        var received = 0
        /// Octets that came and were not consumed.
        var held = 0
        var isIntact = true
        var closings: [Failure?] = []
    }

    static let service = BluetoothUUID.short(0xFD01)
    /// The most octets that wait in the host.
    static let depth = 8_192

    /// How many octets to send on each channel.
    let length: Int
    /// Whether what comes is consumed at once.
    var reads = true
    /// The channels in the order in which they were opened.
    private(set) var channels: [ChannelID] = []
    private(set) var flows: [ChannelID: Flow] = [:]

    init(_ client: ClientID, _ role: ClientRole, length: Int) {
        self.length = length
        super.init(client, role)
    }

    var isDone: Bool { !channels.isEmpty && flows.values.allSatisfy { $0.received == length && $0.left == length } }
    var isIntact: Bool { flows.values.allSatisfy(\.isIntact) }

    final func add(_ channel: OpenedChannel) -> [ClientRequest] {
        channels.append(channel.id)
        flows[channel.id] = Flow(mtu: channel.outgoingMTU)
        return fill(channel.id)
    }

    override func react(to event: ClientEvent) -> [ClientRequest] {
        guard case .channel(let id, let event) = event else { return [] }
        switch event {
        case .received(let octets): return take(octets, id)
        case .resized: return []
        case .sent(let count):
            flows[id]?.left += count
            return fill(id)
        case .closed(let failure):
            flows[id]?.closings.append(failure)
            return []
        }
    }

    private func take(_ octets: [UInt8], _ id: ChannelID) -> [ClientRequest] {
        guard var flow = flows[id] else { return [] }
        for (position, octet) in octets.enumerated() where octet != Self.octet(flow.received + position) {
            flow.isIntact = false
        }
        flow.received += octets.count
        if !reads { flow.held += octets.count }
        flows[id] = flow
        return reads ? [.channel(id, .consumed(octets.count))] : []
    }

    private func fill(_ id: ChannelID) -> [ClientRequest] {
        var requests: [ClientRequest] = []
        guard var flow = flows[id] else { return [] }
        while flow.written < length, flow.written - flow.left < Self.depth {
            let count = min(flow.mtu, length - flow.written, 1_500)
            requests.append(.channel(id, .send((flow.written..<(flow.written + count)).map { Self.octet($0) })))
            flow.written += count
        }
        flows[id] = flow
        return requests
    }

    /// Consumes what was held back.
    final func consume(_ id: ChannelID) -> [ClientRequest] {
        guard let held = flows[id]?.held, held > 0 else { return [] }
        flows[id]?.held = 0
        return [.channel(id, .consumed(held))]
    }

    private static func octet(_ position: Int) -> UInt8 { UInt8(truncatingIfNeeded: position &* 31 &+ position >> 8) }
}

/// The end that publishes channels, and a value to be read.
final class ChannelServer: ChannelApp {
    static let value = BluetoothUUID.short(0xFD02)

    init(length: Int) { super.init(ClientID(rawValue: 1), .peripheral, length: length) }

    override func react(to event: ClientEvent) -> [ClientRequest] {
        switch event {
        case .stateChanged(.poweredOn):
            let value = CharacteristicDefinition(
                id: LocalAttributeID(rawValue: 2),
                uuid: Self.value,
                properties: .read,
                permissions: .readable,
                value: [1, 2, 3]
            )
            let service = ServiceDefinition(
                id: LocalAttributeID(rawValue: 1),
                uuid: Self.service,
                characteristics: [value]
            )
            return [
                .service(.addService(service)), .server(.publishChannel(encryptionRequired: false)),
                .server(.startAdvertising(AdvertisingRequest(services: [Self.service]))),
            ]
        case .server(.channelOpened(let channel, _)): return add(channel)
        default: return super.react(to: event)
        }
    }
}

/// The end that opens channels, and reads the value again and again if it is to.
final class ChannelVisitor: ChannelApp {
    /// How many channels to open.
    let count: Int
    let readsValue: Bool
    private(set) var peer: PeerIdentifier?
    private(set) var readings = 0
    private(set) var failures: [Failure] = []
    private(set) var hasDisconnected = false

    init(length: Int, count: Int = 1, readsValue: Bool = false) {
        self.count = count
        self.readsValue = readsValue
        super.init(ClientID(rawValue: 2), .central, length: length)
    }

    override func react(to event: ClientEvent) -> [ClientRequest] {
        switch event {
        case .stateChanged(.poweredOn): return [.scan(ScanRequest(services: [Self.service]))]
        case .discovered(let report):
            peer = report.peer
            return [.stopScan, .connect(report.peer, ConnectRequest())]
        case .connected(let peer, _):
            let open = [ClientRequest](repeating: .peer(peer, .openChannel(SPSM(wire: 0x80))), count: count)
            return open
                + (readsValue ? [.peer(peer, .discoverCharacteristics(in: .all, only: [ChannelServer.value]))] : [])
        case .disconnected:
            hasDisconnected = true
            return []
        case .peer(_, .channelOpened(_, .success(let channel)), _): return add(channel)
        case .peer(_, .channelOpened(_, .failure(let failure)), _):
            failures.append(failure)
            return []
        case .peer(let peer, .characteristicsDiscovered(_, .success(let found)), _):
            return found.prefix(1).map { .peer(peer, .read($0.value)) }
        case .peer(let peer, .valueRead(let handle, .success), _):
            readings += 1
            return isDone ? [] : [.peer(peer, .read(handle))]
        default: return super.react(to: event)
        }
    }
}
