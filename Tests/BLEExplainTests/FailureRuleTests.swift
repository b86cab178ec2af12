import BLEExplain
import BLESimulation
import BLEWire
import CoreBluetooth
import Testing

@Suite struct FailureRuleTests {
    /// An app that connects to the first device with a service, and reads and writes its characteristic.
    final class App: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
        private(set) var central: CBCentralManager?
        private(set) var device: CBPeripheral?
        private(set) var isDone = false
        private(set) var isReading = false
        /// Runs before the app connects.
        private let found: () -> Void
        private let connected: () -> Void

        init(found: @escaping () -> Void, connected: @escaping () -> Void) {
            self.found = found
            self.connected = connected
            super.init()
            central = CBCentralManager(delegate: self, queue: .main)
        }

        func centralManagerDidUpdateState(_ central: CBCentralManager) {
            if central.state == .poweredOn { central.scanForPeripherals(withServices: [CBUUID(string: "FFE0")]) }
        }

        func centralManager(
            _ central: CBCentralManager,
            didDiscover peripheral: CBPeripheral,
            advertisementData: [String: Any],
            rssi: NSNumber
        ) {
            central.stopScan()
            guard device == nil else { return }
            device = peripheral
            peripheral.delegate = self
            found()
            central.connect(peripheral)
        }

        func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
            peripheral.discoverServices([CBUUID(string: "FFE0")])
        }

        func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
            for service in peripheral.services ?? [] { peripheral.discoverCharacteristics(nil, for: service) }
        }

        func peripheral(
            _ peripheral: CBPeripheral,
            didDiscoverCharacteristicsFor service: CBService,
            error: (any Error)?
        ) {
            connected()
            for characteristic in service.characteristics ?? [] {
                isReading = true
                peripheral.readValue(for: characteristic)
            }
        }

        func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor item: CBCharacteristic, error: (any Error)?) {
            isDone = error == nil
        }

        /// Connects again.
        func reconnect() {
            isDone = false
            if let device { central?.connect(device) }
        }

        /// Ends the connection.
        func leave() {
            if let device { central?.cancelPeripheralConnection(device) }
        }
    }

    /// A fault of a world, and the rule that has to name it.
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let rule: String?
        /// A part of the sentences.
        var says = ""
        var isProtected = false
        var isAbsent = false
        var loss = 0.0
        var value: [UInt8] = [7]
        var before: @Sendable (World, Machine, Machine) -> Void = { _, _, _ in }
        var found: @Sendable (World, Machine, Machine) -> Void = { _, _, _ in }
        var connected: @Sendable (World, Machine, Machine) -> Void = { _, _, _ in }
        /// Runs when the app has read the value.
        var afterwards: @MainActor @Sendable (World, App, Machine) async -> Void = { _, _, _ in }
        var testDescription: String { name }
    }

    static let healthy: [Case] = [
        Case(name: "nothing", rule: nil),
        Case(name: "a protected value that is read after pairing", rule: nil, isProtected: true),
        Case(name: "packets that are lost and sent again", rule: nil, loss: 0.3),
        Case(name: "a protected value, and packets that are lost", rule: nil, isProtected: true, loss: 0.2),
        Case(name: "a long value", rule: nil, value: [UInt8](repeating: 1, count: 400)),
        Case(name: "an empty value", rule: nil, value: []),
        Case(
            name: "a late answer",
            rule: nil,
            before: { _, _, device in device.onRead("FFE1") { _ in .value([1]).after(.seconds(20)) } }
        ),
        Case(
            name: "a device that walks within reach",
            rule: nil,
            connected: { _, _, device in device.walk(to: .init(x: 8), taking: .seconds(5)) }
        ),
        Case(name: "an app that ends the connection", rule: nil, afterwards: { _, app, _ in app.leave() }),
        Case(
            name: "an app that connects to a bonded device again",
            rule: nil,
            isProtected: true,
            afterwards: { world, app, _ in
                app.leave()
                await world.advance(by: .seconds(2))
                app.reconnect()
            }
        ),
        Case(
            name: "other devices",
            rule: nil,
            before: { world, _, _ in
                for number in 1...3 { world.place(SimulatedPeripheral(name: "Other \(number)", services: [])) }
            }
        ),
    ]

    static let faults: [Case] = [
        Case(
            name: "machines that no longer receive each other",
            rule: "link lost",
            says: "packets in a row were lost",
            connected: { world, phone, device in world.separate(phone, device) }
        ),
        Case(
            name: "a device that walks away",
            rule: "link lost",
            says: "m apart (RSSI -",
            before: { _, _, device in device.onRead("FFE1") { _ in .silence } },
            connected: { _, _, device in device.walk(to: .init(x: 400), taking: .seconds(5)) }
        ),
        Case(
            name: "an error of the profile",
            rule: "request refused",
            says: "Application Error 0x80",
            before: { _, _, device in device.onRead("FFE1") { _ in .error(0x80) } }
        ),
        Case(
            name: "a read that is never answered",
            rule: "request without answer",
            says: "Read Request",
            before: { _, _, device in device.onRead("FFE1") { _ in .silence } }
        ),
        Case(
            name: "a device that does not pair",
            rule: "pairing failed",
            says: "ended the pairing",
            isProtected: true,
            before: { _, _, device in device.refusePairing() }
        ),
        Case(
            name: "a device that is not there",
            rule: "device missing",
            says: "no advertisement arrived",
            isAbsent: true
        ),
        Case(
            name: "a device that goes away before the connection",
            rule: "device missing",
            says: "was not established",
            found: { _, _, device in device.unplugRadio() }
        ),
        Case(
            name: "Bluetooth that is switched off",
            rule: "radio unavailable",
            says: "switched off",
            connected: { _, phone, _ in phone.switchBluetoothOff() }
        ),
        Case(
            name: "a controller that resets",
            rule: "radio unavailable",
            says: "restarted",
            connected: { _, phone, _ in phone.resetController() }
        ),
        Case(
            name: "a connection that fails",
            rule: "call failed",
            says: "didFailToConnect",
            before: { _, phone, _ in
                var faults = Machine.Faults()
                faults.failedConnections = 1
                phone.cause(faults)
            }
        ),
        Case(
            name: "a device that sends centrals away",
            rule: "peer ended the link",
            says: "Read Request was waiting",
            before: { _, _, device in device.onRead("FFE1") { _ in .silence } },
            connected: { _, _, device in device.disconnectCentrals() }
        ),
        Case(
            name: "a device that has forgotten its bond",
            rule: "key missing",
            says: "no longer has the key",
            isProtected: true,
            afterwards: { world, app, device in
                app.leave()
                device.forgetBonds()
                await world.advance(by: .seconds(2))
                app.reconnect()
            }
        ),
        Case(
            name: "a device that goes away after the connection request",
            rule: "device missing",
            says: "The device did not answer",
            before: { _, _, device in
                var faults = Machine.Faults()
                faults.lostConnectionRequests = 1_000_000
                device.cause(faults)
            }
        ),
        Case(
            name: "a value that needs an authorization",
            rule: "request refused",
            says: "Insufficient Authorization",
            before: { _, _, device in device.onRead("FFE1") { _ in .error(0x08) } }
        ),
        Case(
            name: "a device that restarts",
            rule: "link lost",
            says: "supervision timeout",
            connected: { _, _, device in device.restart() }
        ),
        Case(
            name: "a fault that was planned",
            rule: "link lost",
            says: "packets in a row were lost",
            before: { world, _, _ in
                world.plan([.init(.linkLoss(.seconds(9)), at: .step("discoverCharacteristics", 1), of: "phone")])
            }
        ),
        Case(
            name: "a controller that is unplugged",
            rule: "radio unavailable",
            says: "the app had no radio",
            connected: { _, phone, _ in phone.unplugRadio() }
        ),
        Case(
            name: "a controller that no longer answers",
            rule: "radio unavailable",
            says: "restarted",
            connected: { _, phone, _ in
                var faults = Machine.Faults()
                faults.isMute = true
                phone.cause(faults)
            }
        ),
        Case(
            name: "an app that may not use Bluetooth",
            rule: "radio unavailable",
            says: "not allowed to use Bluetooth",
            before: { _, phone, _ in phone.authorization = .denied }
        ),
    ]

    @MainActor
    @Test("Each fault is named by its rule", arguments: faults, 0..<16 as Range<UInt64>)
    func named(_ test: Case, seed: UInt64) async {
        let (world, app) = await run(test, seed)
        let findings = FailureRule.findings(in: world.timeline)
        #expect(
            findings.contains { $0.rule == test.rule && $0.text.contains(test.says) },
            "\(findings.map { "\($0.rule): \($0.text)" }) \(world.story)"
        )
        #expect(!app.isDone)
        // Both ends record a lost link, but it is one failure.
        let losses = findings.filter { world.timeline.events[$0.event].isLoss }
        let ends = world.timeline.events.count(where: \.isLoss)
        #expect(losses.count <= 1, "\(findings.map(\.text))")
        if ends > 1 { #expect(losses.first?.text.contains("recorded the loss at") == true) }
    }

    @MainActor
    @Test("Nothing is named when nothing fails", arguments: healthy, 0..<16 as Range<UInt64>)
    func quiet(_ test: Case, seed: UInt64) async {
        let (world, app) = await run(test, seed)
        let findings = FailureRule.findings(in: world.timeline)
        #expect(findings.isEmpty, "\(findings.map { "\($0.rule): \($0.text)" })")
        #expect(app.isDone)
    }

    /// Runs the app until it has read the value, or failed.
    @MainActor
    private func run(_ test: Case, _ seed: UInt64) async -> (World, App) {
        let world = World(seed: seed, conditions: .init(loss: test.loss)), phone = world.machine("phone")
        world.recordPage()
        var characteristic = SimulatedPeripheral.Characteristic("FFE1", [.read], value: test.value)
        characteristic.isProtected = test.isProtected
        let device: Machine
        if test.isAbsent {
            device = world.machine("Lamp")
        } else {
            device = world.place(SimulatedPeripheral(name: "Lamp", services: [.init("FFE0", [characteristic])]))
        }
        test.before(world, phone, device)
        let app = phone.inhabit {
            App(found: { test.found(world, phone, device) }, connected: { test.connected(world, phone, device) })
        }
        if await world.advance(atMost: .seconds(60), until: { app.isDone }) {
            await test.afterwards(world, app, device)
            await world.advance(by: .seconds(10))
        }
        return (world, app)
    }
}

extension Timeline.Event {
    /// True if one end of a link recorded its loss.
    fileprivate var isLoss: Bool { if case .disconnected(_, .connectionTimeout) = fact { true } else { false } }
}
