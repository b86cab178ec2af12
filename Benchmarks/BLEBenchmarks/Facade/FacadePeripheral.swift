import BLEWire
import CoreBluetooth
import Dispatch
import Foundation

/// An app that serves a central.
///
/// Sendable because everything is used on the app's queue.
final class FacadePeripheral: NSObject, FacadeApp, @unchecked Sendable {
    private static let value = Data(PeerService.value)

    let ready = DispatchSemaphore(value: 0), done = DispatchSemaphore(value: 0)
    private(set) var isGood = true

    private let workload: FacadeWorkload
    private let transport: FeedTransport
    private let queue = DispatchQueue(label: "app")
    private var manager: CBPeripheralManager?
    private let notified = CBMutableCharacteristic(
        type: CBUUID(PeerService.notified),
        properties: .notify,
        value: nil,
        permissions: []
    )

    private var packets: [UInt8] = []
    private var open = 0
    private var turns = 0
    private var isRunning = false
    private var heard = 0

    init(_ workload: FacadeWorkload, _ transport: FeedTransport) {
        self.workload = workload
        self.transport = transport
        super.init()
        manager = CBPeripheralManager(delegate: self, queue: queue)
    }

    func run(turns: Int) {
        let opcode: UInt8 =
            switch workload {
            case .readServed: 0x0A
            case .writeServed: 0x12
            default: 0x52
            }
        let packets = transport.packets(opcode, workload.batch)
        queue.async {
            self.packets = packets
            self.turns = turns
            self.isRunning = true
            if self.workload == .notificationSent { self.update() } else { self.takeTurn() }
        }
    }

    private func takeTurn() {
        guard turns > 0 else { return finish() }
        turns -= 1
        open = workload.batch
        transport.feed(packets)
    }

    /// Sends values until the manager accepts no more, or all turns are done.
    private func update() {
        guard let manager else { return }
        while turns > 0, manager.updateValue(Self.value, for: notified, onSubscribedCentrals: nil) { turns -= 1 }
        if turns == 0 { finish() }
    }

    private func finish() {
        isRunning = false
        done.signal()
    }

    /// Records that a request, a command or a subscription has arrived; `isGood` is false if its value is wrong.
    private func ended(_ isGood: Bool) {
        self.isGood = self.isGood && isGood
        if isRunning {
            open -= 1
            if open == 0 { takeTurn() }
        } else {
            heard += 1
            if heard == 4 { ready.signal() }
        }
    }
}

extension FacadePeripheral: CBPeripheralManagerDelegate {
    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        guard peripheral.state == .poweredOn else { return }
        let service = CBMutableService(type: CBUUID(PeerService.uuid), primary: true)
        service.characteristics = [
            CBMutableCharacteristic(
                type: CBUUID(PeerService.readable),
                properties: .read,
                value: nil,
                permissions: .readable
            ),
            CBMutableCharacteristic(
                type: CBUUID(PeerService.writable),
                properties: [.write, .writeWithoutResponse],
                value: nil,
                permissions: .writeable
            ),
            notified,
        ]
        peripheral.add(service)
        peripheral.startAdvertising(nil)
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        request.value = Self.value
        peripheral.respond(to: request, withResult: .success)
        ended(true)
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        let isGood = requests.count == 1 && requests[0].value == Self.value
        if let first = requests.first { peripheral.respond(to: first, withResult: .success) }
        ended(isGood)
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didSubscribeTo characteristic: CBCharacteristic
    ) { ended(true) }

    func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) {
        if isRunning, workload == .notificationSent { update() }
    }
}
