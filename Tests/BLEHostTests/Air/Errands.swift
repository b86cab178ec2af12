import BLEHost
import BLEWire

/// What two apps do with each other in one visit.
enum Errand: CaseIterable {
    /// Everything that a client reads, writes and discovers.
    case values
    /// Values that a server sends by itself, while its services change.
    case updates
    /// Channels that are opened, refused, filled and closed.
    case channels
    /// Changes of the link itself, asked for by both ends.
    case tuning
}

/// An app that asks its peer for all of an errand at once.
final class ErrandRunner: App {
    let errand: Errand
    private(set) var peer: PeerIdentifier?
    private var sent: [ChannelID: Int] = [:]

    init(_ errand: Errand) {
        self.errand = errand
        super.init(ClientID(rawValue: 2), .central)
    }

    /// Whether everything is answered.
    var isDone: Bool {
        let account = Account(self)
        return account.connections > 0 && account.pending.isEmpty
            && (errand != .channels || account.openChannels == 0)
    }

    override func react(to event: ClientEvent) -> [ClientRequest] {
        switch event {
        case .stateChanged(.poweredOn): return [.scan(ScanRequest(services: [ErrandHost.service]))]
        case .discovered(let report):
            guard peer == nil else { return [] }
            peer = report.peer
            return [.stopScan, .connect(report.peer, ConnectRequest())]
        case .connected(let peer, _): return begin().map { .peer(peer, $0) }
        case .peer(let peer, .characteristicsDiscovered(_, .success(let found)), _):
            return proceed(found).map { .peer(peer, $0) }
        case .peer(_, .channelOpened(_, .success(let channel)), _): return ErrandHost.fill(channel)
        case .channel(let id, .received(let unit)): return [.channel(id, .consumed(unit.count))]
        case .channel(let id, .sent(let count)):
            sent[id, default: 0] += count
            return sent[id] == ErrandHost.filling ? [.channel(id, .close)] : []
        default: return []
        }
    }

    private func begin() -> [PeerRequest] {
        switch errand {
        case .values:
            [
                .discoverServices(only: []), .discoverIncludedServices(in: .all, only: []),
                .discoverCharacteristics(in: .all, only: []),
            ]
        case .updates: [.discoverCharacteristics(in: .all, only: [])]
        case .channels:
            [.openChannel(SPSM(wire: 0x80)), .openChannel(SPSM(wire: 0x99)), .openChannel(SPSM(wire: 0x80))]
        case .tuning:
            [
                .readRSSI, .tune(.parameters(.errand)), .tune(.physicalLayers(transmit: .le2M, receive: .le2M)),
                .tune(.dataLength(octets: 60)), .readRSSI,
            ]
        }
    }

    private func proceed(_ found: [DiscoveredCharacteristic]) -> [PeerRequest] {
        func characteristic(_ uuid: BluetoothUUID) -> DiscoveredCharacteristic? { found.first { $0.uuid == uuid } }
        guard let stored = characteristic(ErrandHost.stored), let notified = characteristic(ErrandHost.notified),
            let indicated = characteristic(ErrandHost.indicated)
        else { return [] }
        if errand == .updates {
            return [
                .subscribe(.notifications, to: notified.value, in: Self.descriptors(of: notified)),
                .subscribe(.indications, to: indicated.value, in: Self.descriptors(of: indicated)),
            ]
        }
        return [
            .discoverDescriptors(of: notified.value, in: Self.descriptors(of: notified)), .read(stored.value),
            .write(stored.value, [UInt8](repeating: 5, count: 50)), .writeCommand(stored.value, [1]),
            .write(stored.value, [2]), .read(notified.value),
        ]
    }

    private static func descriptors(of characteristic: DiscoveredCharacteristic) -> AttributeHandleRange? {
        AttributeHandleRange.all.after(characteristic.value).flatMap {
            AttributeHandleRange($0.start, characteristic.end)
        }
    }
}

/// The app that has what an errand is about.
final class ErrandHost: App {
    static let service = BluetoothUUID.short(0xFD03)
    static let stored = BluetoothUUID.short(0x3D01)
    static let notified = BluetoothUUID.short(0x3D02)
    static let indicated = BluetoothUUID.short(0x3D03)
    /// How many octets go each way on a channel.
    static let filling = 600

    let errand: Errand
    private var subscriptions = 0

    init(_ errand: Errand) {
        self.errand = errand
        super.init(ClientID(rawValue: 1), .peripheral)
    }

    override func react(to event: ClientEvent) -> [ClientRequest] {
        switch event {
        case .stateChanged(.poweredOn):
            return [
                .service(.addService(Self.definition)), .server(.publishChannel(encryptionRequired: false)),
                .server(.startAdvertising(AdvertisingRequest(services: [Self.service]))),
            ]
        case .server(.readRequested(let transaction, _, _, let offset)):
            return [.service(.respond(transaction, .success([UInt8](repeating: 7, count: max(0, 40 - offset)))))]
        case .server(.writeRequested(let transaction?, _, _)): return [.service(.respond(transaction, .success([])))]
        case .server(.subscribed):
            subscriptions += 1
            return subscriptions == 2 ? updates : []
        case .server(.centralsConnected(let centrals)):
            guard errand == .tuning else { return [] }
            return centrals.map { .server(.setLatency($0.central.peer, .low)) }
        case .server(.channelOpened(let channel, _)): return Self.fill(channel)
        case .channel(let id, .received(let unit)): return [.channel(id, .consumed(unit.count))]
        default: return []
        }
    }

    /// What to send on a channel that has just been opened.
    static func fill(_ channel: OpenedChannel) -> [ClientRequest] {
        [ClientRequest](repeating: .channel(channel.id, .send([UInt8](repeating: 6, count: filling / 3))), count: 3)
    }

    private var updates: [ClientRequest] {
        let values = (UInt8(0)..<3).flatMap { number in
            [3, 4].map { ServiceRequest.update(LocalAttributeID(rawValue: $0), [number], to: nil) }
        }
        let second = ServiceDefinition(id: .init(rawValue: 9), uuid: .short(0xFD04))
        return (values + [.addService(second), .removeService(second.id)]).map { .service($0) }
    }

    private static var definition: ServiceDefinition {
        func characteristic(
            _ id: UInt32,
            _ uuid: BluetoothUUID,
            _ properties: CharacteristicProperties
        ) -> CharacteristicDefinition {
            CharacteristicDefinition(
                id: .init(rawValue: id),
                uuid: uuid,
                properties: properties,
                permissions: [.readable, .writeable]
            )
        }
        return ServiceDefinition(
            id: .init(rawValue: 1),
            uuid: service,
            characteristics: [
                characteristic(2, stored, [.read, .write, .writeWithoutResponse]),
                characteristic(3, notified, [.read, .notify]), characteristic(4, indicated, [.read, .indicate]),
            ]
        )
    }
}

extension HCI.ConnectionParameters {
    /// Some that a link does not have by itself.
    fileprivate static var errand: Self {
        guard let interval = ConnectionInterval(wire: 60) else { preconditionFailure("75 ms are allowed") }
        return Self(minimum: interval, maximum: interval, timeout: SupervisionTimeout(.seconds(3)))
    }
}
