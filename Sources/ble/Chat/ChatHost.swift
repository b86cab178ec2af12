import CoreBluetooth

/// A chat room: a peripheral to which guests write, and which notifies all of them of what each one wrote.
///
/// All of it happens on the main queue.
@MainActor
final class ChatHost: NSObject {
    /// What happens in a room.
    enum Event {
        case opened
        case subscribed(UUID, guests: Int)
        case left(UUID, guests: Int)
        /// Somebody said something; the room itself, if there is no guest.
        case said(UUID?, String)
        case failed(Trouble)
    }

    let name: String
    private let report: (Event) -> Void
    private var manager: CBPeripheralManager!
    private var room: CBMutableCharacteristic?
    private var lines: [UUID: LineAssembler] = [:]
    private var outbox: [(octets: Data, to: [CBCentral]?)] = []

    /// Whether everything that was said has left for the guests.
    var isIdle: Bool { outbox.isEmpty }

    init(name: String, report: @escaping (Event) -> Void) {
        self.name = name
        self.report = report
        super.init()
        manager = CBPeripheralManager(delegate: self, queue: .main)
    }

    /// Says something to everybody.
    func say(_ text: String) {
        let message = ChatRoom.message(from: name, text)
        send(message, to: nil)
        report(.said(nil, message.trimmingCharacters(in: .newlines)))
    }

    /// Shows the room to others, or hides it; guests stay.
    func setAdvertising(_ on: Bool) {
        guard on else { return manager.stopAdvertising() }
        manager.startAdvertising([
            CBAdvertisementDataServiceUUIDsKey: [ChatRoom.service], CBAdvertisementDataLocalNameKey: name,
        ])
    }

    /// Closes the room.
    func close() {
        manager.stopAdvertising()
        manager.removeAllServices()
        outbox = []
    }

    /// Sends a text in pieces that each of the centrals can take.
    private func send(_ text: String, to centrals: [CBCentral]?) {
        let receivers = centrals ?? room?.subscribedCentrals ?? []
        guard let length = receivers.map(\.maximumUpdateValueLength).min() else { return }
        outbox += ChatRoom.pieces(of: text, length: length).map { ($0, centrals) }
        flush()
    }

    private func flush() {
        guard let room else { return }
        while let next = outbox.first {
            guard manager.updateValue(next.octets, for: room, onSubscribedCentrals: next.to) else { return }
            outbox.removeFirst()
        }
    }
}

extension ChatHost: @MainActor CBPeripheralManagerDelegate {
    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        switch peripheral.state {
        case .poweredOn:
            let room = CBMutableCharacteristic(
                type: ChatRoom.characteristic,
                properties: [.read, .write, .notify],
                value: nil,
                permissions: [.readable, .writeable]
            )
            let service = CBMutableService(type: ChatRoom.service, primary: true)
            service.characteristics = [room]
            self.room = room
            manager.add(service)
        case .unknown, .resetting: break
        case let state: report(.failed(.noRadio(state)))
        }
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
        if let error { return report(.failed(.failed("Opening the room", error))) }
        setAdvertising(true)
    }

    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
        report(error.map { .failed(.failed("Showing the room", $0)) } ?? .opened)
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didSubscribeTo characteristic: CBCharacteristic
    ) {
        let guests = room?.subscribedCentrals?.count ?? 0
        let length = central.maximumUpdateValueLength
        report(.subscribed(central.identifier, guests: guests))
        send(ChatRoom.welcome(to: name, subscribers: guests, maximumLength: length), to: [central])
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didUnsubscribeFrom characteristic: CBCharacteristic
    ) {
        lines[central.identifier] = nil
        outbox.removeAll { $0.to?.contains { $0.identifier == central.identifier } ?? false }
        report(.left(central.identifier, guests: room?.subscribedCentrals?.count ?? 0))
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        let title = Data(name.utf8)
        guard request.offset <= title.count else { return peripheral.respond(to: request, withResult: .invalidOffset) }
        request.value = title.dropFirst(request.offset)
        peripheral.respond(to: request, withResult: .success)
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        guard let first = requests.first else { return }
        peripheral.respond(to: first, withResult: .success)
        for request in requests {
            let guest = request.central.identifier
            for line in lines[guest, default: LineAssembler()].receive(request.value ?? Data()) {
                report(.said(guest, line))
                send(line + "\n", to: nil)
            }
        }
    }

    func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) { flush() }
}
