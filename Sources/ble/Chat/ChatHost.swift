import BLEHost
import CoreBluetooth
import CoreBluetoothExtras

/// A chat room: a peripheral that receives messages from guests, and sends each message to all of them as a
/// notification.
///
/// Everything runs on the main queue.
@MainActor
final class ChatHost: NSObject {
    /// An event that a room reports to its owner.
    enum Event {
        case opened
        case subscribed(UUID, guests: Int)
        case left(UUID, guests: Int)
        /// A guest or, if the identifier is `nil`, the room itself sent a message.
        case said(UUID?, String)
        /// The radio became unavailable or available again.
        case radioChanged(RadioChange)
        case failed(CommandError)
    }

    let name: String
    private let report: (Event) -> Void
    private var manager: CBPeripheralManager!
    private var radio = RadioWatch()
    private var isShown = true
    private var room: CBMutableCharacteristic?
    private var lines = GuestLines()
    private var outbox = ChatOutbox()

    /// True if all messages have been sent to the guests.
    var isIdle: Bool { outbox.pieces.isEmpty }

    init(name: String, report: @escaping (Event) -> Void) {
        self.name = name
        self.report = report
        super.init()
        manager = CBPeripheralManager(delegate: self, queue: .main)
        _ = manager.observers.add { [weak self] event in
            guard case .server(.centralsConnected(_)) = event else { return }
            MainActor.assumeIsolated {
                guard let self else { return }
                self.lines.keep(self.manager.connectedCentrals.map(\.identifier))
            }
        }
    }

    /// Stops waiting for a radio that has not become available, and reports the failure.
    func giveUpOnRadio() { follow(radio.overdue()) }

    /// Sends a message to all guests.
    func say(_ text: String) {
        let message = ChatRoom.message(from: name, text)
        send(message, to: nil, isOwn: true)
        report(.said(nil, message.trimmingCharacters(in: .newlines)))
    }

    /// Starts or stops advertising the room.
    ///
    /// Guests stay connected.
    func setAdvertising(_ on: Bool) {
        isShown = on
        guard manager.state == .poweredOn else { return }
        guard on else { return manager.stopAdvertising() }
        manager.startAdvertising([
            CBAdvertisementDataServiceUUIDsKey: [ChatRoom.service], CBAdvertisementDataLocalNameKey: name,
        ])
    }

    /// Closes the room: drops unsent messages, stops advertising, and removes the service.
    func close() {
        outbox = ChatOutbox()
        if manager.state == .poweredOn { withdraw() }
    }

    private func withdraw() {
        manager.stopAdvertising()
        manager.removeAllServices()
    }

    private func follow(_ change: RadioWatch.OnChange) {
        switch change {
        case .nothing: break
        case .appeared: open()
        case .lost:
            outbox = ChatOutbox()
            lines = GuestLines()
            report(.radioChanged(.lost))
        case .returned:
            report(.radioChanged(.returned))
            // If Bluetooth was only switched off, the old service is available again. A new one replaces it.
            withdraw()
            open()
        case .missing(let state): report(.failed(.noRadio(state)))
        }
    }

    private func open() {
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
    }

    private func fail(_ what: String, _ error: any Error) {
        if !error.isLoss { report(.failed(.failed(what, error))) }
    }

    /// Sends a text in pieces that fit the MTUs of all receivers; if `centrals` is `nil`, sends it to all guests.
    ///
    /// `isOwn` is true for a message that the room's user has written.
    private func send(_ text: String, to centrals: [CBCentral]?, isOwn: Bool = false) {
        let receivers = centrals ?? room?.subscribedCentrals ?? []
        guard let length = receivers.map(\.maximumUpdateValueLength).min() else { return }
        outbox.add(text, to: centrals, length: length, isOwn: isOwn)
        flush()
    }

    private func flush() {
        guard let room else { return }
        while let next = outbox.pieces.first {
            guard manager.updateValue(next.octets, for: room, onSubscribedCentrals: next.to) else { return }
            outbox.removeFirst()
        }
    }
}

extension ChatHost: @MainActor CBPeripheralManagerDelegate {
    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        follow(radio.changed(to: peripheral.state))
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
        if let error { return fail("Opening the room", error) }
        if isShown { setAdvertising(true) } else { report(.opened) }
    }

    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
        if let error { return fail("Advertising the room", error) }
        report(.opened)
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
        lines.remove(central.identifier)
        outbox.removeAll(for: central.identifier)
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
            for line in lines.receive(request.value ?? Data(), from: guest) {
                report(.said(guest, line))
                send(line + "\n", to: nil)
            }
        }
    }

    func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) { flush() }
}
