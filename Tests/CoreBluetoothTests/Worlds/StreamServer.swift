import CoreBluetooth

/// An app that offers a fixed value, a note that can be read and written, and a stream of numbers.
final class StreamServer: NSObject, CBPeripheralManagerDelegate {
    static var service: CBUUID { CBUUID(string: "FFF0") }
    static var fixed: CBUUID { CBUUID(string: "FFF1") }
    static var note: CBUUID { CBUUID(string: "FFF2") }
    static var stream: CBUUID { CBUUID(string: "FFF3") }
    static let fixedValue = Data((0..<100).map { UInt8($0) })

    private var manager: CBPeripheralManager!
    private let length: Int
    private let streamed = CBMutableCharacteristic(
        type: StreamServer.stream,
        properties: [.notify, .indicate],
        value: nil,
        permissions: .readable
    )
    private var next = 0
    /// What was written, in order, without the parts of long values.
    private(set) var received: [Data] = []
    private(set) var note = Data()
    private(set) var log: [String] = []
    /// How often the stream had to wait.
    private(set) var waits = 0

    /// Starts at once; sends the numbers from 0 to `length` to whoever subscribes.
    init(length: Int = 0, queue: DispatchQueue? = DispatchQueue(label: "server")) {
        self.length = length
        super.init()
        manager = CBPeripheralManager(delegate: self, queue: queue)
    }

    static func value(_ number: Int) -> Data {
        withUnsafeBytes(of: UInt32(truncatingIfNeeded: number).littleEndian) { Data($0) }
    }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        log.append("state \(peripheral.state.rawValue)")
        guard peripheral.state == .poweredOn else { return }
        let service = CBMutableService(type: Self.service, primary: true)
        let fixed = CBMutableCharacteristic(
            type: Self.fixed,
            properties: .read,
            value: Self.fixedValue,
            permissions: .readable
        )
        let note = CBMutableCharacteristic(
            type: Self.note,
            properties: [.read, .write, .writeWithoutResponse],
            value: nil,
            permissions: [.readable, .writeable]
        )
        note.descriptors = [
            CBMutableDescriptor(type: CBUUID(string: CBUUIDCharacteristicUserDescriptionString), value: "Note")
        ]
        service.characteristics = [fixed, note, streamed]
        peripheral.add(service)
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
        log.append("added \(brief(error))")
        peripheral.startAdvertising([
            CBAdvertisementDataLocalNameKey: "Stream", CBAdvertisementDataServiceUUIDsKey: [service.uuid],
        ])
    }

    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
        log.append("advertising \(brief(error))")
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        guard request.offset <= note.count else {
            return peripheral.respond(to: request, withResult: .invalidOffset)
        }
        request.value = note.dropFirst(request.offset)
        peripheral.respond(to: request, withResult: .success)
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        var new = Data()
        for request in requests {
            guard request.offset == new.count, let value = request.value else {
                return peripheral.respond(to: request, withResult: .invalidOffset)
            }
            new += value
        }
        note = new
        received.append(new)
        peripheral.respond(to: requests[0], withResult: .success)
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didSubscribeTo characteristic: CBCharacteristic
    ) {
        log.append("subscribed \(streamed.subscribedCentrals?.count ?? 0)")
        next = 0
        sendOn()
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didUnsubscribeFrom characteristic: CBCharacteristic
    ) { log.append("unsubscribed \(streamed.subscribedCentrals?.count ?? 0)") }

    func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) { sendOn() }

    private func sendOn() {
        guard streamed.subscribedCentrals?.isEmpty == false else { return }
        while next < length {
            guard manager.updateValue(Self.value(next), for: streamed, onSubscribedCentrals: nil) else {
                waits += 1
                return
            }
            next += 1
        }
    }
}
