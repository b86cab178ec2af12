import CoreBluetooth

/// A chat guest: a central that looks for rooms, joins one, writes messages to it, and receives everyone's messages as
/// notifications.
///
/// Everything runs on the main queue.
@MainActor
final class ChatGuest: NSObject {
    /// An event that a guest reports to its owner.
    enum Event {
        case ready
        case discovered(Room)
        case connected(Room)
        case subscribed(Room)
        case wrote(String)
        case received(String)
        case left(Room, (any Error)?)
        /// The radio became unavailable or available again. If it became unavailable, the connection to the room has
        /// ended.
        case radioChanged(RadioChange)
        case failed(CommandError)
    }

    /// A room that the guest has discovered.
    struct Room {
        let peripheral: CBPeripheral
        let name: String
        let rssi: Int
        let services: [CBUUID]
    }

    let name: String
    private let report: (Event) -> Void
    private var manager: CBCentralManager!
    private var radio = RadioWatch()
    private(set) var joined: Room?
    private var talk: CBCharacteristic?
    private var lines = LineAssembler()
    private var unwritten: [(text: String, octets: Data, isLast: Bool)] = []

    /// The maximum number of rooms.
    ///
    /// Above it, the room that was discovered first is dropped, and the numbers of the others change.
    static let mostRooms = 256

    /// The discovered rooms, in the order of discovery.
    private(set) var rooms: [Room] = []

    /// True if the room has received all messages from this guest.
    var isIdle: Bool { unwritten.isEmpty }

    init(name: String, report: @escaping (Event) -> Void) {
        self.name = name
        self.report = report
        super.init()
        manager = CBCentralManager(delegate: self, queue: .main)
    }

    /// Stops waiting for a radio that has not become available, and reports the failure.
    func giveUpOnRadio() { follow(radio.overdue()) }

    /// Turns scanning on or off.
    func setScanning(_ on: Bool) {
        guard manager.state == .poweredOn else { return }
        guard on else { return manager.stopScan() }
        manager.scanForPeripherals(withServices: [ChatRoom.service], options: nil)
    }

    func join(_ room: Room) {
        joined = room
        setScanning(false)
        manager.connect(room.peripheral, options: nil)
    }

    /// Sends a message to everyone in the room.
    ///
    /// The message begins with this guest's name.
    func say(_ text: String) {
        let message = ChatRoom.message(from: name, text)
        let pieces = ChatRoom.pieces(of: message, length: ChatRoom.maximumLength)
        let isIdle = unwritten.isEmpty
        for (index, piece) in pieces.enumerated() { unwritten.append((text, piece, index == pieces.count - 1)) }
        if isIdle { writeNext() }
    }

    func leave() {
        guard let joined, manager.state == .poweredOn else { return }
        manager.cancelPeripheralConnection(joined.peripheral)
    }

    private func follow(_ change: RadioWatch.OnChange) {
        switch change {
        case .nothing: break
        case .appeared: report(.ready)
        case .lost:
            forgetRoom()
            rooms = []
            report(.radioChanged(.lost))
        case .returned:
            report(.radioChanged(.returned))
            report(.ready)
        case .missing(let state): report(.failed(.noRadio(state)))
        }
    }

    private func forgetRoom() {
        joined = nil
        talk = nil
        unwritten = []
        lines = LineAssembler()
    }

    private func writeNext() {
        guard let joined, let talk, let next = unwritten.first else { return }
        joined.peripheral.writeValue(next.octets, for: talk, type: .withResponse)
    }

    /// Reports an error that keeps the guest from using the room, and disconnects.
    ///
    /// The disconnection is reported, too, when it is complete.
    private func giveUp(_ what: String, _ error: any Error) {
        report(.failed(.failed(what, error)))
        leave()
    }
}

extension ChatGuest: @MainActor CBCentralManagerDelegate {
    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        follow(radio.changed(to: central.state))
    }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        let sighting = ScannedPeripheral(peripheral, advertisement: advertisementData, rssi: RSSI)
        let room = Room(
            peripheral: peripheral,
            name: sighting.name ?? peripheral.identifier.uuidString,
            rssi: sighting.rssi,
            services: sighting.services
        )
        if let index = rooms.firstIndex(where: { $0.peripheral == peripheral }) {
            let hadName = rooms[index].name == room.name
            rooms[index] = room
            guard !hadName else { return }
        } else {
            rooms.append(room)
            if rooms.count > Self.mostRooms { rooms.removeFirst() }
        }
        report(.discovered(room))
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        guard let joined else { return }
        report(.connected(joined))
        peripheral.delegate = self
        peripheral.discoverServices([ChatRoom.service])
    }

    func centralManager(
        _ central: CBCentralManager,
        didFailToConnect peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        joined = nil
        report(.failed(.failed("Joining", error)))
    }

    func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        guard let room = joined else { return }
        forgetRoom()
        report(.left(room, error))
    }
}

extension ChatGuest: @MainActor CBPeripheralDelegate {
    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        if let error { return giveUp("Finding the room's service", error) }
        for service in peripheral.services ?? [] {
            peripheral.discoverCharacteristics([ChatRoom.characteristic], for: service)
        }
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didDiscoverCharacteristicsFor service: CBService,
        error: (any Error)?
    ) {
        if let error { return giveUp("Finding the room's characteristic", error) }
        guard let found = service.characteristics?.first(where: { $0.uuid == ChatRoom.characteristic }) else { return }
        peripheral.setNotifyValue(true, for: found)
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        if let error { return giveUp("Subscribing to the room", error) }
        guard let joined, characteristic.isNotifying else { return }
        talk = characteristic
        report(.subscribed(joined))
        writeNext()
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateValueFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        guard error == nil, let value = characteristic.value else { return }
        for line in lines.receive(value) { report(.received(line)) }
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didWriteValueFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        guard !unwritten.isEmpty else { return }
        let done = unwritten.removeFirst()
        if let error { return giveUp("Sending “\(done.text)”", error) }
        if done.isLast { report(.wrote(done.text)) }
        writeNext()
    }
}
