import BLEWire

@testable import BLEHost

/// The app of a server whose values go over several bearers.
final class BearerHost: App {
    static let service = BluetoothUUID.short(0xFD05)
    /// How many values are sent at once, half of them as indications.
    static let updateCount = 8

    private(set) var subscriptions = 0
    private var taken = 0
    private var updates = 0

    init() { super.init(ClientID(rawValue: 1), .peripheral) }

    /// How many values were sent of which the app has not heard that they have gone; less than none if it has twice.
    var pending: Int { updates - taken }

    override func react(to event: ClientEvent) -> [ClientRequest] {
        switch event {
        case .stateChanged(.poweredOn):
            return [
                .service(.addService(Self.definition)), .server(.publishChannel(encryptionRequired: false)),
                .server(.startAdvertising(AdvertisingRequest(services: [Self.service]))),
            ]
        case .server(.readRequested(let transaction, _, _, let offset)):
            return [.service(.respond(transaction, .success([UInt8](repeating: 7, count: max(0, 100 - offset)))))]
        case .server(.writeRequested(let transaction?, _, _)): return [.service(.respond(transaction, .success([])))]
        case .server(.subscribed): subscriptions += 1
        case .server(.updatesTaken(let count)): taken += count
        default: break
        }
        return []
    }

    /// Values for all who want them.
    func send() -> [ClientRequest] {
        updates += Self.updateCount
        return (0..<UInt8(Self.updateCount)).map { number in
            .service(.update(LocalAttributeID(rawValue: number % 2 == 0 ? 4 : 5), [number], to: nil))
        }
    }

    private static var definition: ServiceDefinition {
        let properties: [CharacteristicProperties] = [[.read, .write], [.read, .write], [.read, .notify], .indicate]
        let characteristics = properties.enumerated().map { position, properties in
            CharacteristicDefinition(
                id: .init(rawValue: UInt32(position + 2)),
                uuid: .short(0x3D01 + UInt16(position)),
                properties: properties,
                permissions: [.readable, .writeable]
            )
        }
        return ServiceDefinition(id: .init(rawValue: 1), uuid: service, characteristics: characteristics)
    }
}

/// An app that reads and writes much at once, and has channels of its own.
final class BearerRunner: App {
    private(set) var peer: PeerIdentifier?
    private(set) var found: [DiscoveredCharacteristic] = []
    /// What it asked for and what it heard of that, in order.
    private(set) var asked: [String] = []
    private(set) var answers: [String] = []
    /// Channels that it wanted and of which it has not heard.
    private(set) var openings = 0
    private(set) var open: [ChannelID] = []
    /// Channels whose size is being changed.
    private(set) var resizing: [ChannelID] = []
    /// Events that nothing was asked for.
    private(set) var strays = 0

    init() { super.init(ClientID(rawValue: 2), .central) }

    /// Whether it has heard of all that it asked for.
    var isDone: Bool { answers == asked && openings == 0 && resizing.isEmpty }

    override func react(to event: ClientEvent) -> [ClientRequest] {
        switch event {
        case .stateChanged(.poweredOn): return [.scan(ScanRequest(services: [BearerHost.service]))]
        case .discovered(let report):
            guard peer == nil else { return [] }
            peer = report.peer
            return [.stopScan, .connect(report.peer, ConnectRequest())]
        case .connected(let peer, _): return [.peer(peer, .discoverServices(only: [BearerHost.service]))]
        case .peer(let peer, let event, _): return react(to: event).map { .peer(peer, $0) } + resize(event)
        case .channel(let id, let event): hear(event, of: id)
        default: break
        }
        return []
    }

    private func react(to event: PeerEvent) -> [PeerRequest] {
        switch event {
        case .servicesDiscovered(.success(let services)):
            return services.prefix(1).map { .discoverCharacteristics(in: $0.range, only: []) }
        case .characteristicsDiscovered(_, .success(let found)) where found.count == 4:
            self.found = found
            let wanted: [(Int, Subscription)] = [(2, .notifications), (3, .indications)]
            return wanted.map { position, subscription in
                let value = found[position].value, rest = AttributeHandleRange.all.after(value)?.start ?? value
                return .subscribe(subscription, to: value, in: AttributeHandleRange(rest, found[position].end))
            }
        case .valueRead(let handle, _): answers.append("read \(handle.wire)")
        case .valueWritten(let handle, _): answers.append("write \(handle.wire)")
        default: break
        }
        return []
    }

    private func resize(_ event: PeerEvent) -> [ClientRequest] {
        guard case .channelOpened(_, let result) = event else { return [] }
        openings -= 1
        guard case .success(let channel) = result else { return [] }
        open.append(channel.id)
        resizing.append(channel.id)
        return [.channel(channel.id, .resize(mtu: 5000, mps: 300))]
    }

    private func hear(_ event: ChannelEvent, of id: ChannelID) {
        guard open.contains(id) else { return strays += 1 }
        switch event {
        case .resized:
            if !resizing.contains(id) { strays += 1 }
            resizing.removeAll { $0 == id }
        case .closed:
            open.removeAll { $0 == id }
            resizing.removeAll { $0 == id }
        case .received, .sent: break
        }
    }

    /// Several reads that take several packets, a write that fits one and one that does not, and more behind them.
    func ask() -> [PeerRequest] {
        guard found.count == 4 else { return [] }
        let (first, second, third) = (found[0].value, found[1].value, found[2].value)
        let short = [UInt8](repeating: 1, count: 30), long = [UInt8](repeating: 2, count: 150)
        let requests: [PeerRequest] = [
            .read(first), .read(second), .read(third), .read(first), .write(first, short), .write(second, long),
            .read(second), .read(third),
        ]
        asked += requests.map { request in
            if case .attribute(.read(let handle)) = request { return "read \(handle.wire)" }
            if case .attribute(.write(let handle, _)) = request { return "write \(handle.wire)" }
            return "?"
        }
        return requests
    }

    func expectChannels(_ count: Int) { openings += count }
}

/// Two hosts on a link that is encrypted at the beginning, and what they do with bearers then.
final class BearerVisit {
    let town = Town(seed: 4)
    let host = BearerHost(), runner = BearerRunner()
    let hosting: Station, running: Station
    private var hasAsked = false

    init() {
        // Small packets on the unenhanced bearer, and the smallest that enhanced ones may have.
        let configuration = Host.Configuration(identifierSecret: 9, preferredMTU: 23)
        hosting = town.add(host, configuration: configuration)
        running = town.add(runner, configuration: configuration)
        let host = host
        town.run(for: .seconds(20)) { host.subscriptions == 2 }
        town.run(for: .seconds(5))
        for station in town.stations {
            for link in station.host.links.handles { station.host.secure(link, .key(.encrypted), at: town.now) }
        }
    }

    /// The client's enhanced bearers, and the server's.
    var clientBearers: [ChannelID] {
        guard let bearers = running.host.layers.attributes.links.first?.client.bearers else { return [] }
        return bearers.all.compactMap { if case .enhanced(let channel) = $0.id { channel } else { nil } }
    }
    var serverBearers: [ChannelID] {
        hosting.host.layers.attributes.links.first?.server.bearers.compactMap { bearer in
            if case .enhanced(let channel) = bearer.id { channel } else { nil }
        } ?? []
    }

    var isDone: Bool { hasAsked && runner.isDone && host.pending == 0 }

    /// Opens the bearers, and then does everything at once.
    func run() {
        town.run(for: .seconds(20)) { town.isHalted || clientBearers.count == BearerOpening.count }
        guard !town.isHalted, !hasAsked else { return }
        hasAsked = true
        if let peer = runner.peer {
            for request in runner.ask() { running.host.perform(.peer(peer, request), for: runner.client, at: town.now) }
        }
        for request in host.send() { hosting.host.perform(request, for: host.client, at: town.now) }
        for link in running.host.links.handles {
            runner.expectChannels(2)
            let spsm = SPSM(wire: 0x80), owner = CreditChannel.Owner.client(runner.client)
            let now = town.now
            running.host.withLayers(at: now) { _, channels in
                channels.open(spsm, count: 2, on: link, for: owner, at: now)
            }
        }
        town.run(for: .seconds(20)) { town.isHalted || isDone }
    }
}
