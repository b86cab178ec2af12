import BLEHost
import BLERuntime
import BLEWire
import Dispatch

/// A participant of the chat, which uses the interface between the facade and the host.
///
/// Sendable because it works on its queue.
class ChatClient: @unchecked Sendable {
    static let service = BluetoothUUID.short(0xFFE0)
    static let input = BluetoothUUID.short(0xFFE1)
    static let output = BluetoothUUID.short(0xFFE2)

    private let queue: DispatchQueue
    private var session: (any HostSession)?
    private var said: UInt32 = 0

    init(_ label: String) { queue = DispatchQueue(label: label) }

    /// Opens a session on `link`.
    func start(_ role: ClientRole, on link: any HostLink) {
        queue.suspend()
        session = link.open(role, on: queue) { [weak self] event in self?.hear(event) }
        queue.resume()
    }

    /// Processes an event; subclasses override it.
    func hear(_ event: ClientEvent) {}

    func send(_ request: ClientRequest) { session?.send(request) }

    /// Creates the next line of a speaker, and calls `body` with it on the queue.
    func withNextLine(of speaker: UInt8, _ body: (ChatLine) -> Void) {
        queue.sync {
            body(ChatLine(speaker: speaker, number: said))
            said += 1
        }
    }
}

/// The machine with the chat room, which sends every line to all guests.
final class ChatRoom: ChatClient, @unchecked Sendable {
    private static let outputID = LocalAttributeID(rawValue: 2)

    /// The lines that the room has sent to the guests, in order.
    private(set) var passed: [ChatLine] = []

    init(on link: any HostLink) {
        super.init("room")
        start(.peripheral, on: link)
    }

    /// Sends the room's own next line to the guests.
    func sayNext() { withNextLine(of: 0) { pass(on: $0) } }

    override func hear(_ event: ClientEvent) {
        switch event {
        case .stateChanged(.poweredOn): publish()
        case .server(.writeRequested(let transaction?, _, let parts)):
            for part in parts {
                if let line = ChatLine(part.value) { pass(on: line) }
            }
            send(.service(.respond(transaction, .success([]))))
        default: break
        }
    }

    private func pass(on line: ChatLine) {
        passed.append(line)
        send(.service(.update(Self.outputID, line.octets, to: nil)))
    }

    private func publish() {
        let service = ServiceDefinition(
            id: .init(rawValue: 0),
            uuid: Self.service,
            characteristics: [
                .init(id: .init(rawValue: 1), uuid: Self.input, properties: .write, permissions: .writeable),
                .init(id: Self.outputID, uuid: Self.output, properties: .notify, permissions: []),
            ]
        )
        send(.service(.addService(service)))
        send(.server(.startAdvertising(AdvertisingRequest(localName: "room", services: [Self.service]))))
    }
}

/// A machine that joins the room, sends lines and receives those of others.
final class ChatGuest: ChatClient, @unchecked Sendable {
    let number: Int
    /// The lines that the guest has received, in order.
    private(set) var heard: [ChatLine] = []
    private(set) var hasJoined = false
    private var room: PeerIdentifier?
    private var input: AttributeHandle?

    init(_ number: Int, on link: any HostLink) {
        self.number = number
        super.init("guest \(number)")
        start(.central, on: link)
    }

    /// Sends the guest's next line to the room.
    func sayNext() {
        withNextLine(of: UInt8(number)) { line in
            guard let room, let input else { return }
            send(.peer(room, .write(input, line.octets)))
        }
    }

    override func hear(_ event: ClientEvent) {
        switch event {
        case .stateChanged(.poweredOn): send(.scan(ScanRequest(services: [Self.service])))
        case .discovered(let report) where room == nil:
            room = report.peer
            send(.stopScan)
            send(.connect(report.peer, ConnectRequest()))
        case .connected(let peer, _): send(.peer(peer, .discoverServices(only: [Self.service])))
        case .peer(let peer, .servicesDiscovered(.success(let services)), _):
            for service in services { send(.peer(peer, .discoverCharacteristics(in: service.range, only: []))) }
        case .peer(let peer, .characteristicsDiscovered(_, .success(let found)), _): subscribe(to: found, of: peer)
        case .peer(_, .subscriptionChanged(_, .notifications, nil), _): hasJoined = true
        case .peer(_, .valueNotified(_, let value), _):
            if let line = ChatLine(value) { heard.append(line) }
        default: break
        }
    }

    private func subscribe(to characteristics: [DiscoveredCharacteristic], of peer: PeerIdentifier) {
        for characteristic in characteristics {
            if characteristic.uuid == Self.input { input = characteristic.value }
            guard characteristic.uuid == Self.output else { continue }
            let range = AttributeHandleRange(characteristic.value, characteristic.end)?.after(characteristic.value)
            send(.peer(peer, .subscribe(.notifications, to: characteristic.value, in: range)))
        }
    }
}
