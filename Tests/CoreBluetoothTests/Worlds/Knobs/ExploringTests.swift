import BLESimulation
import CoreBluetooth
import Testing

@Suite("Exploring faults that break an app", .timeLimit(.minutes(30)))
struct ExploringTests {
    /// Counts values that a device sends, and connects again when it was lost.
    private final class Counter: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
        /// Whether it subscribes anew after a reconnection, as it must.
        private let isCareful: Bool
        private var device: CBPeripheral?
        private var hasSubscribed = false
        private(set) var latest: UInt8 = 0

        init(isCareful: Bool) { self.isCareful = isCareful }

        func centralManagerDidUpdateState(_ central: CBCentralManager) {
            guard central.state == .poweredOn else { return }
            if let device { central.connect(device) } else { central.scanForPeripherals(withServices: nil) }
        }

        func centralManager(
            _ central: CBCentralManager,
            didDiscover peripheral: CBPeripheral,
            advertisementData: [String: Any],
            rssi RSSI: NSNumber
        ) {
            central.stopScan()
            device = peripheral
            peripheral.delegate = self
            central.connect(peripheral)
        }

        func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
            if isCareful || !hasSubscribed { peripheral.discoverServices(nil) }
        }

        func centralManager(
            _ central: CBCentralManager,
            didDisconnectPeripheral peripheral: CBPeripheral,
            error: (any Error)?
        ) {
            central.connect(peripheral)
        }

        func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
            for service in peripheral.services ?? [] { peripheral.discoverCharacteristics(nil, for: service) }
        }

        func peripheral(
            _ peripheral: CBPeripheral,
            didDiscoverCharacteristicsFor service: CBService,
            error: (any Error)?
        ) {
            for characteristic in service.characteristics ?? [] { peripheral.setNotifyValue(true, for: characteristic) }
        }

        func peripheral(
            _ peripheral: CBPeripheral,
            didUpdateNotificationStateFor item: CBCharacteristic,
            error: (any Error)?
        ) {
            hasSubscribed = hasSubscribed || item.isNotifying
        }

        func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor item: CBCharacteristic, error: (any Error)?) {
            latest = item.value?.first ?? latest
        }
    }

    private struct LostUpdate: Error {}

    /// An app and a device for a minute, of which the last value counts.
    private func run(in world: World, isCareful: Bool) async throws {
        let device = world.place(
            SimulatedPeripheral(name: "Counter", services: [.init("FFE0", [.init("FFE2", [.notify])])])
        )
        let app = Counter(isCareful: isCareful)
        let central = world.inhabit { CBCentralManager(delegate: app, queue: DispatchQueue(label: "app")) }
        await world.advance(by: .seconds(10))
        for value in 1...5 as ClosedRange<UInt8> {
            device.notify([value], of: "FFE2")
            await world.advance(by: .seconds(10))
        }
        withExtendedLifetime(central) {}
        guard app.latest == 5 else { throw LostUpdate() }
    }

    @Test("Exploring finds an update lost on reconnection with at most two faults, and reproduces it")
    func seeded() async throws {
        let failure = await #expect(throws: World.Failure.self) {
            try await World.explore(seeds: 0..<8, faults: [.init(.linkLoss(.seconds(6)), of: "Counter")]) { world in
                try await run(in: world, isCareful: false)
            }
        }
        let found = try #require(failure)
        #expect((1...2).contains(found.faults.count))
        #expect(found.repetition.contains("World.replay(seed: \(found.seed)"))
        #expect(found.description.contains("seed \(found.seed)") && found.description.contains("linkLoss 6000 ms"))
        let again = await #expect(throws: World.Failure.self) {
            try await World.replay(seed: found.seed, faults: found.faults.map { "\($0)" }) { world in
                try await run(in: world, isCareful: false)
            }
        }
        #expect(again?.story == found.story)
        try await World.replay(seed: found.seed, faults: found.faults.map { "\($0)" }) { world in
            try await run(in: world, isCareful: true)
        }
    }

    @Test(
        "A fault is read back from its text",
        arguments: [
            "linkLoss 6000 ms at packet 40 of my sensor of old", "bluetoothOff 1 ms at step didConnect 2 of phone",
            "controllerReset at time 3500 ms of phone", "unplugged 10 ms at packet 1 of x",
        ]
    )
    func words(text: String) {
        #expect(World.Fault(text)?.description == text)
    }

    @Test(
        "Text that is not a fault is refused",
        arguments: [
            "", "linkLoss at packet 1 of x", "controllerReset 5 ms at packet 1 of x", "linkLoss 5 ms at packet x of y",
            "linkLoss 5 ms at step of y", "linkLoss 5 s at packet 1 of x", "linkLoss 5 ms at packet 1 of ",
        ]
    )
    func noWords(text: String) {
        #expect(World.Fault(text) == nil)
    }
}
