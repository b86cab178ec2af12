import BLEHost
import BLEWire

/// What an app asked for, against what it was answered.
///
/// The answers to requests of one kind about the same thing come in the order of the requests, so they are counted.
struct RequestLedger {
    /// A kind of request, with what it is about.
    private enum Matter: Hashable {
        case connection(PeerIdentifier)
        case rssi(PeerIdentifier)
        case services(PeerIdentifier)
        case characteristics(PeerIdentifier, AttributeHandleRange)
        case read(PeerIdentifier, AttributeHandle)
        case write(PeerIdentifier, AttributeHandle)
        case subscription(PeerIdentifier, AttributeHandle)
        case service(LocalAttributeID)
        case advertising
    }

    private var balance: [Matter: Int] = [:]

    init(_ app: SeamApp) {
        for case let matter? in app.requests.map(Self.matter) { balance[matter, default: 0] += 1 }
        for case let matter? in app.events.map(Self.matter) { balance[matter, default: 0] -= 1 }
    }

    /// What was asked for and never answered.
    var unanswered: [String] { balance.filter { $0.value > 0 }.map { "\($0.key)" } }

    /// What was answered more often than it was asked for.
    var unasked: [String] { balance.filter { $0.value < 0 }.map { "\($0.key)" } }

    private static func matter(of request: ClientRequest) -> Matter? {
        switch request {
        case .connect(let peer, _): .connection(peer)
        case .peer(let peer, .link(.readRSSI), _): .rssi(peer)
        case .peer(let peer, .attribute(.discoverServices), _): .services(peer)
        case .peer(let peer, .attribute(.discoverCharacteristics(let range, _)), _): .characteristics(peer, range)
        case .peer(let peer, .attribute(.read(let handle)), _): .read(peer, handle)
        case .peer(let peer, .attribute(.write(let handle, _)), _): .write(peer, handle)
        case .peer(let peer, .attribute(.subscribe(_, let handle, _)), _): .subscription(peer, handle)
        case .service(.addService(let service)): .service(service.id)
        case .server(.startAdvertising): .advertising
        default: nil
        }
    }

    private static func matter(of event: ClientEvent) -> Matter? {
        switch event {
        case .connected(let peer, _), .connectFailed(let peer, _): .connection(peer)
        case .peer(let peer, .rssiRead, _): .rssi(peer)
        case .peer(let peer, .servicesDiscovered, _): .services(peer)
        case .peer(let peer, .characteristicsDiscovered(let range, _), _): .characteristics(peer, range)
        case .peer(let peer, .valueRead(let handle, _), _): .read(peer, handle)
        case .peer(let peer, .valueWritten(let handle, _), _): .write(peer, handle)
        case .peer(let peer, .subscriptionChanged(let handle, _, _), _): .subscription(peer, handle)
        case .server(.serviceAdded(let id, _)): .service(id)
        case .server(.advertisingStarted): .advertising
        default: nil
        }
    }
}
