import CoreBluetooth

let LocalNameKey = "xmgDevice"
let notifyCharacteristicStrUUID = "FFF1"
let readwriteCharacteristicStrUUID = "FFF2"
let readCharacteristicStrUUID = "FFE1"
let Service1StrUUID = "FFF0"
let Service2StrUUID = "FFE0"

/// Calls a closure again and again: a timer in the program, the virtual clock in a test.
protocol Ticker: AnyObject {
    func start(every seconds: TimeInterval, _ tick: @escaping () -> Void)
    func stop()
}

/// A peripheral with two services, one of which tells the time to whoever subscribes.
final class PeripheralViewController: NSObject, CBPeripheralManagerDelegate {
    private(set) var log: [String] = []
    private let ticker: any Ticker
    private let now: () -> Date
    private var services: [CBMutableService] = []
    private var addedServices = 0

    /// The manager, made when it is first needed.
    private(set) lazy var pMgr = CBPeripheralManager(delegate: self, queue: .main)

    init(ticker: any Ticker, now: @escaping () -> Date = Date.init) {
        self.ticker = ticker
        self.now = now
    }

    func viewDidLoad() { _ = pMgr }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        guard peripheral.state == .poweredOn else { return log.append("The radio could not be opened") }
        log.append("The radio is open")
        setupPMgr()
    }

    private func setupPMgr() {
        let userDescription = CBUUID(string: CBUUIDCharacteristicUserDescriptionString)
        let des1 = CBMutableDescriptor(type: userDescription, value: "xmgDes1")

        let notifyCharacteristic = CBMutableCharacteristic(
            type: CBUUID(string: notifyCharacteristicStrUUID),
            properties: .notify,
            value: nil,
            permissions: .readable
        )
        let readwriteChar = CBMutableCharacteristic(
            type: CBUUID(string: readwriteCharacteristicStrUUID),
            properties: [.read, .write],
            value: nil,
            permissions: [.readable, .writeable]
        )
        readwriteChar.descriptors = [des1]
        let readChar = CBMutableCharacteristic(
            type: CBUUID(string: readCharacteristicStrUUID),
            properties: .read,
            value: nil,
            permissions: .readable
        )

        let ser1 = CBMutableService(type: CBUUID(string: Service1StrUUID), primary: true)
        ser1.characteristics = [notifyCharacteristic, readwriteChar]
        let ser2 = CBMutableService(type: CBUUID(string: Service2StrUUID), primary: true)
        ser2.characteristics = [readChar]

        services = [ser1, ser2]
        for service in services { pMgr.add(service) }
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
        if error == nil { addedServices += 1 }
        guard addedServices == services.count else { return }
        peripheral.startAdvertising([
            CBAdvertisementDataServiceUUIDsKey: services.map(\.uuid), CBAdvertisementDataLocalNameKey: LocalNameKey,
        ])
    }

    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
        log.append(error == nil ? "Advertising" : "Not advertising")
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        guard request.characteristic.properties.contains(.read) else {
            return pMgr.respond(to: request, withResult: .readNotPermitted)
        }
        let data = request.characteristic.value ?? Data()
        guard request.offset <= data.count else { return pMgr.respond(to: request, withResult: .invalidOffset) }
        request.value = data.dropFirst(request.offset)
        pMgr.respond(to: request, withResult: .success)
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        guard let request = requests.first else { return }
        guard request.characteristic.properties.contains(.write),
            let characteristic = request.characteristic as? CBMutableCharacteristic
        else { return pMgr.respond(to: request, withResult: .writeNotPermitted) }
        characteristic.value = request.value
        pMgr.respond(to: request, withResult: .success)
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didSubscribeTo characteristic: CBCharacteristic
    ) {
        log.append("Subscribed to \(characteristic.uuid.uuidString)")
        ticker.start(every: 2) { [weak self] in _ = self?.sendData(characteristic) }
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didUnsubscribeFrom characteristic: CBCharacteristic
    ) {
        log.append("Unsubscribed from \(characteristic.uuid.uuidString)")
        ticker.stop()
    }

    func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) { log.append("Ready") }

    /// Called every two seconds while somebody listens.
    private func sendData(_ characteristic: CBCharacteristic) -> Bool {
        guard let characteristic = characteristic as? CBMutableCharacteristic else { return false }
        let dateFormatter = DateFormatter()
        dateFormatter.dateFormat = "yy:MM:dd:HH:mm:ss"
        dateFormatter.timeZone = TimeZone(identifier: "UTC")
        let text = dateFormatter.string(from: now())
        return pMgr.updateValue(Data(text.utf8), for: characteristic, onSubscribedCentrals: nil)
    }
}
