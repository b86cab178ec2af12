import BLEHost
import BLEWire

/// An app that serves one service: a value to read, one to write, and one that it notifies.
final class ServingApp: App {
    static let service = BluetoothUUID.short(0x180D)
    static let readable = LocalAttributeID(rawValue: 2)
    static let writeable = LocalAttributeID(rawValue: 3)
    static let notifying = LocalAttributeID(rawValue: 4)

    private(set) var written: [[UInt8]] = []

    init() { super.init(ClientID(rawValue: 1), .peripheral) }

    private var definition: ServiceDefinition {
        func characteristic(
            _ id: LocalAttributeID,
            _ uuid: UInt16,
            _ properties: CharacteristicProperties,
            _ permissions: AttributePermissions
        ) -> CharacteristicDefinition {
            CharacteristicDefinition(id: id, uuid: .short(uuid), properties: properties, permissions: permissions)
        }
        return ServiceDefinition(
            id: LocalAttributeID(rawValue: 1),
            uuid: Self.service,
            characteristics: [
                characteristic(Self.readable, 0x2A37, .read, .readable),
                characteristic(Self.writeable, 0x2A39, .write, .writeable),
                characteristic(Self.notifying, 0x2A38, .notify, .readable),
            ]
        )
    }

    override func react(to event: ClientEvent) -> [ClientRequest] {
        switch event {
        case .stateChanged(.poweredOn): return [.service(.addService(definition))]
        case .server(.serviceAdded(_, nil)):
            return [.server(.startAdvertising(.init(localName: "Nora", services: [Self.service])))]
        case .server(.readRequested(let transaction, _, _, let offset)):
            let value = Array(0..<UInt8(100)).dropFirst(offset)
            return [.service(.respond(transaction, .success(Array(value))))]
        case .server(.writeRequested(let transaction, _, let parts)):
            written += parts.map(\.value)
            return transaction.map { [.service(.respond($0, .success([])))] } ?? []
        case .server(.subscribed(_, let id)):
            return (UInt8(0)..<5).map { .service(.update(id, [$0], to: nil)) }
        default: return []
        }
    }
}

/// An app that finds the serving app, tries all that it serves, and leaves.
final class VisitingApp: App {
    private(set) var peer: PeerIdentifier?
    private(set) var value: [UInt8]?
    private(set) var notified: [[UInt8]] = []
    private(set) var isDone = false

    init() { super.init(ClientID(rawValue: 2), .central) }

    override func react(to event: ClientEvent) -> [ClientRequest] {
        switch event {
        case .stateChanged(.poweredOn):
            notified = []
            return [.scan(ScanRequest(services: [ServingApp.service]))]
        case .discovered(let report):
            peer = report.peer
            return [.stopScan, .connect(report.peer, ConnectRequest())]
        case .connected(let peer, _):
            return [
                .peer(peer, .readRSSI), .peer(peer, .tune(.dataLength(octets: 100))),
                .peer(peer, .discoverServices(only: [ServingApp.service])),
            ]
        case .disconnected(_, nil, _):
            isDone = true
            return []
        case .disconnected(_, .some(.poweredOff), _): return []
        case .disconnected(let peer, .some, _): return [.connect(peer, ConnectRequest())]
        case .peer(let peer, let event, _): return react(to: event, of: peer)
        default: return []
        }
    }

    private func react(to event: PeerEvent, of peer: PeerIdentifier) -> [ClientRequest] {
        switch event {
        case .servicesDiscovered(.success(let services)):
            return services.prefix(1).map { .peer(peer, .discoverCharacteristics(in: $0.range, only: [])) }
        case .characteristicsDiscovered(_, .success(let found)) where found.count == 3:
            return [
                .peer(peer, .read(found[0].value)),
                .peer(peer, .write(found[1].value, [1, 2, 3])),
                .peer(peer, .subscribe(.notifications, to: found[2].value, in: Self.descriptors(of: found[2]))),
            ]
        case .valueRead(_, .success(let value)): self.value = value
        case .valueNotified(_, let value):
            notified.append(value)
            if notified.count == 5 { return [.cancelConnection(peer)] }
        default: break
        }
        return []
    }

    private static func descriptors(of characteristic: DiscoveredCharacteristic) -> AttributeHandleRange? {
        AttributeHandleRange.all.after(characteristic.value).flatMap {
            AttributeHandleRange($0.start, characteristic.end)
        }
    }
}

/// How often something was asked for, and how often it was answered.
struct Ledger: Equatable {
    private(set) var asked: [String: Int] = [:]
    private(set) var answered: [String: Int] = [:]

    init(_ app: App) {
        for request in app.requests { if let kind = Self.kind(request) { asked[kind, default: 0] += 1 } }
        for event in app.events { if let kind = Self.kind(event) { answered[kind, default: 0] += 1 } }
    }

    private static func kind(_ request: ClientRequest) -> String? {
        switch request {
        case .connect: "connect"
        case .peer(_, let request, _): kind(request)
        case .service(.addService): "add"
        case .server(.startAdvertising): "advertise"
        case .service(.update): "update"
        case .scan, .stopScan, .cancelConnection, .server, .service, .channel, .appPhaseChanged, .security, .showAlerts,
            .tester:
            nil
        }
    }

    private static func kind(_ request: PeerRequest) -> String? {
        switch request {
        case .link(.readRSSI): "rssi"
        case .link(.tune): "tune"
        case .attribute(.discoverServices): "services"
        case .attribute(.discoverCharacteristics): "characteristics"
        case .attribute(.read): "read"
        case .attribute(.write): "write"
        case .attribute(.subscribe): "subscribe"
        case .attribute, .openChannel: nil
        }
    }

    private static func kind(_ event: ClientEvent) -> String? {
        switch event {
        case .connected, .connectFailed: "connect"
        case .peer(_, .rssiRead, _): "rssi"
        case .peer(_, .tuned, _): "tune"
        case .peer(_, .servicesDiscovered, _): "services"
        case .peer(_, .characteristicsDiscovered, _): "characteristics"
        case .peer(_, .valueRead, _): "read"
        case .peer(_, .valueWritten, _): "write"
        case .peer(_, .subscriptionChanged, _): "subscribe"
        case .server(.serviceAdded): "add"
        case .server(.advertisingStarted): "advertise"
        default: nil
        }
    }
}
