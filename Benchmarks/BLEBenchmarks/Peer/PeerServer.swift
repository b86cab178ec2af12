import CoreBluetooth

/// The server end of a benchmark, which serves reads, writes and subscriptions until the process ends.
final class PeerServer: NSObject, @unchecked Sendable {
    private let queue = DispatchQueue(label: "benchmark.server")
    private let ready: @Sendable (Bool) -> Void
    private var manager: CBPeripheralManager?
    private let notifying = CBMutableCharacteristic(
        type: PeerPlan.notifying,
        properties: .notify,
        value: nil,
        permissions: []
    )
    private let writable = CBMutableCharacteristic(
        type: PeerPlan.writable,
        properties: [.write, .writeWithoutResponse],
        value: nil,
        permissions: .writeable
    )
    private let control = CBMutableCharacteristic(
        type: PeerPlan.control,
        properties: [.read, .write],
        value: nil,
        permissions: [.readable, .writeable]
    )
    private let sink = ChannelSink()
    private var channel: CBL2CAPChannel?
    private var awaited = 0
    private var counts = PeerPlan.Counts()
    /// The number of values that are still to be sent.
    private var remaining = 0
    private var value = Data()

    /// Creates a server, which starts immediately.
    ///
    /// `ready` is called with true when clients can connect, or with false if that fails.
    init(ready: @escaping @Sendable (Bool) -> Void) {
        self.ready = ready
        super.init()
        queue.sync { manager = CBPeripheralManager(delegate: self, queue: queue) }
    }

    private func services() -> [CBMutableService] {
        let first = CBMutableService(type: PeerPlan.service, primary: true)
        let readable = CBMutableCharacteristic(
            type: PeerPlan.readable,
            properties: .read,
            value: PeerPlan.value,
            permissions: .readable
        )
        first.characteristics = [readable, writable, notifying, control]
        let others = (0..<PeerPlan.services).map { index in
            let service = CBMutableService(type: PeerPlan.filler(service: index), primary: true)
            service.characteristics = (0..<PeerPlan.characteristics).map { number in
                CBMutableCharacteristic(
                    type: PeerPlan.filler(service: index, characteristic: number),
                    properties: .read,
                    value: Data([1, 2]),
                    permissions: .readable
                )
            }
            return service
        }
        return [first] + others
    }

    private func apply(_ order: PeerPlan.Order) {
        switch order {
        case .reset:
            counts = PeerPlan.Counts()
            sink.reset()
        case .notify(let count, let size):
            remaining = count
            value = Data((0..<size).map { UInt8(truncatingIfNeeded: $0) })
            notify()
        }
    }

    private func notify() {
        while remaining > 0, manager?.updateValue(value, for: notifying, onSubscribedCentrals: nil) == true {
            remaining -= 1
        }
    }
}

extension PeerServer: CBPeripheralManagerDelegate {
    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        guard peripheral.state == .poweredOn else {
            if peripheral.state == .unsupported { ready(false) }
            return
        }
        let services = services()
        awaited = services.count
        services.forEach(peripheral.add)
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
        awaited -= 1
        if awaited == 0 { peripheral.publishL2CAPChannel(withEncryption: false) }
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        didPublishL2CAPChannel PSM: CBL2CAPPSM,
        error: (any Error)?
    ) {
        guard error == nil, PSM == PeerPlan.channel else { return ready(false) }
        peripheral.startAdvertising([CBAdvertisementDataServiceUUIDsKey: [PeerPlan.service]])
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
        guard let channel else { return }
        // The channel stays open as long as it is retained.
        self.channel = channel
        sink.read(channel)
    }

    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
        ready(error == nil)
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        counts.channelOctets = sink.octets
        request.value = counts.data
        peripheral.respond(to: request, withResult: .success)
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        for request in requests {
            let data = request.value ?? Data()
            if request.characteristic === writable {
                counts.writes += 1
                counts.octets += data.count
            } else if let order = PeerPlan.Order(data) {
                apply(order)
            }
        }
        if let first = requests.first { peripheral.respond(to: first, withResult: .success) }
    }

    func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) { notify() }
}
