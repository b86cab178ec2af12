import BLESimulation
import CoreBluetooth
import Dispatch
import Foundation
import Testing

@Suite("Apps in a world")
struct AppsTests {
    /// A peripheral that notifies a number each time that one is written.
    final class Counter: NSObject, CBPeripheralManagerDelegate {
        private var manager: CBPeripheralManager?
        private let output = CBMutableCharacteristic(
            type: CBUUID(string: "FFF2"),
            properties: [.notify],
            value: nil,
            permissions: []
        )
        private(set) var written: [Data] = []

        init(queue: DispatchQueue?) {
            super.init()
            manager = CBPeripheralManager(delegate: self, queue: queue)
        }

        func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
            guard peripheral.state == .poweredOn else { return }
            let service = CBMutableService(type: CBUUID(string: "FFF0"), primary: true)
            let input = CBMutableCharacteristic(
                type: CBUUID(string: "FFF1"),
                properties: [.write],
                value: nil,
                permissions: [.writeable]
            )
            service.characteristics = [input, output]
            peripheral.add(service)
            peripheral.startAdvertising([
                CBAdvertisementDataServiceUUIDsKey: [service.uuid], CBAdvertisementDataLocalNameKey: "counter",
            ])
        }

        func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
            for request in requests {
                written.append(request.value ?? Data())
                #expect(peripheral.updateValue(request.value ?? Data(), for: output, onSubscribedCentrals: nil))
            }
            if let first = requests.first { peripheral.respond(to: first, withResult: .success) }
        }
    }

    /// A central that is created by another one's delegate method, and writes numbers until it has heard 10.
    final class Caller: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
        private let queue: DispatchQueue?
        private var outer: CBCentralManager?
        private var manager: CBCentralManager?
        private var peripheral: CBPeripheral?
        private(set) var heard: [Data] = []

        init(queue: DispatchQueue?) {
            self.queue = queue
            super.init()
            outer = CBCentralManager(delegate: self, queue: queue)
        }

        func centralManagerDidUpdateState(_ central: CBCentralManager) {
            guard central.state == .poweredOn else { return }
            if central === outer {
                manager = CBCentralManager(delegate: self, queue: queue)
            } else {
                central.scanForPeripherals(withServices: [CBUUID(string: "FFF0")])
            }
        }

        func centralManager(
            _ central: CBCentralManager,
            didDiscover peripheral: CBPeripheral,
            advertisementData: [String: Any],
            rssi: NSNumber
        ) {
            guard self.peripheral == nil else { return }
            self.peripheral = peripheral
            peripheral.delegate = self
            central.stopScan()
            central.connect(peripheral)
        }

        func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
            peripheral.discoverServices(nil)
        }

        func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
            for service in peripheral.services ?? [] where service.uuid == CBUUID(string: "FFF0") {
                peripheral.discoverCharacteristics(nil, for: service)
            }
        }

        func peripheral(
            _ peripheral: CBPeripheral,
            didDiscoverCharacteristicsFor service: CBService,
            error: (any Error)?
        ) {
            for characteristic in service.characteristics ?? [] where characteristic.properties.contains(.notify) {
                peripheral.setNotifyValue(true, for: characteristic)
            }
        }

        func peripheral(
            _ peripheral: CBPeripheral,
            didUpdateNotificationStateFor characteristic: CBCharacteristic,
            error: (any Error)?
        ) {
            #expect(error == nil)
            writeNext(peripheral)
        }

        func peripheral(
            _ peripheral: CBPeripheral,
            didUpdateValueFor characteristic: CBCharacteristic,
            error: (any Error)?
        ) {
            heard.append(characteristic.value ?? Data())
            if heard.count < 10 { writeNext(peripheral) }
        }

        private func writeNext(_ peripheral: CBPeripheral) {
            let characteristics = peripheral.services?.flatMap { $0.characteristics ?? [] } ?? []
            for characteristic in characteristics where characteristic.properties.contains(.write) {
                peripheral.writeValue(Data([UInt8(heard.count)]), for: characteristic, type: .withResponse)
            }
        }
    }

    static func run(seed: UInt64, queue: (String) -> DispatchQueue?) async -> UInt64 {
        let world = World(seed: seed, conditions: .init(loss: 0.3))
        let counter = world.machine("counter", at: .init(x: 3)).inhabit { Counter(queue: queue("counter")) }
        let caller = world.inhabit { Caller(queue: queue("caller")) }
        await world.advance(by: .seconds(30))
        #expect(caller.heard == (0..<10).map { Data([$0]) })
        #expect(counter.written == caller.heard)
        return world.traceHash
    }

    @Test("Two apps on their own queues connect, and the seed determines their run", arguments: UInt64(0)..<16)
    func serial(seed: UInt64) async {
        let first = await Self.run(seed: seed) { DispatchQueue(label: $0) }
        let again = await Self.run(seed: seed) { DispatchQueue(label: $0) }
        #expect(first == again)
    }

    @Test("Concurrent queues, a shared queue and the main queue give the same run")
    @MainActor func otherQueues() async {
        let shared = DispatchQueue(label: "both")
        let hashes = [
            await Self.run(seed: 5) { DispatchQueue(label: $0, attributes: .concurrent) },
            await Self.run(seed: 5) { _ in shared },
            await Self.run(seed: 5) { _ in nil },
            await Self.run(seed: 5) { _ in .main },
        ]
        #expect(Set(hashes).count == 1)
    }

    @Test("A closure that owns an app is replaced without a deadlock")
    func replacedClosures() {
        let world = World(seed: 1), phone = world.machine("phone")
        let device = world.place(SimulatedPeripheral(name: "Lamp", services: []))
        weak var launched: CBCentralManager?, reader: CBCentralManager?
        do {
            let managers = phone.inhabit { (CBCentralManager(), CBCentralManager()) }
            (launched, reader) = managers
            phone.onLaunch { [manager = managers.0] _ in withExtendedLifetime(manager) {} }
            device.onRead("2A6E") { [manager = managers.1] _ in withExtendedLifetime(manager) { .value([]) } }
        }
        #expect(launched != nil && reader != nil)
        phone.onLaunch { _ in }
        device.onRead("2A6E") { _ in .value([]) }
        #expect(launched == nil && reader == nil)
    }
}
