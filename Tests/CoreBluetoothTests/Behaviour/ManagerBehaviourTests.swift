import BLESimulation
import Testing

@testable import CoreBluetooth

@Suite("Life cycle of managers")
struct ManagerBehaviourTests {
    let bench = WorldBench()
    private let someService = CBUUID(string: "FFF0")

    @Test(
        "The state is unknown at first, and then reported once, whatever it is",
        .behaviour("1.1.1"),
        arguments: [(false, "state 5"), (true, "state 4")]
    )
    func firstState(isOff: Bool, call: String) async {
        if isOff { bench.phone.switchBluetoothOff() }
        #expect(bench.central.state == .unknown)
        #expect(bench.server.state == .unknown)
        await bench.wait()
        #expect(bench.app.take().last == call)
        #expect(bench.serverApp.take() == ["state 5"])
        let late = bench.anotherCentral()
        #expect(late.manager.state == .unknown)
        await bench.wait()
        #expect(late.app.take() == [call])
    }

    @Test("The authorization is readable without asking the user", .behaviour("1.1.2", "1.3.2"))
    @available(*, deprecated)
    func authorization() {
        #expect(CBManager.authorization == .allowedAlways)
        #expect(CBCentralManager.authorization == .allowedAlways)
        #expect(CBPeripheralManager.authorization == .allowedAlways)
        #expect(bench.central.authorization == .allowedAlways)
        #expect(CBPeripheralManager.authorizationStatus() == .authorized)
    }

    @Test("Callbacks run on the queue given at creation", .behaviour("1.2.1"))
    func queue() async {
        /// An app that notes on which queue it is called.
        final class Listener: NSObject, CBCentralManagerDelegate, CBPeripheralManagerDelegate {
            static let key = DispatchSpecificKey<String>()
            var queues: [String?] = []
            func centralManagerDidUpdateState(_ central: CBCentralManager) {
                queues.append(DispatchQueue.getSpecific(key: Self.key))
            }
            func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
                queues.append(DispatchQueue.getSpecific(key: Self.key))
            }
        }
        let listener = Listener()
        let one = DispatchQueue(label: "one"), two = DispatchQueue(label: "two", attributes: .concurrent)
        one.setSpecific(key: Listener.key, value: "one")
        two.setSpecific(key: Listener.key, value: "two")
        let central = bench.phone.inhabit { CBCentralManager(delegate: listener, queue: one) }
        await bench.wait()
        let server = bench.phone.inhabit { CBPeripheralManager(delegate: listener, queue: two) }
        await bench.wait()
        #expect(listener.queues == ["one", "two"])
        #expect((central.state, server.state) == (.poweredOn, .poweredOn))
    }

    @Test("A manager continues working when its delegate is deallocated", .behaviour("1.2.2"))
    func weakDelegate() async {
        var app: CentralApp? = CentralApp()
        let manager = bench.phone.inhabit { [app] in
            CBCentralManager(delegate: app, queue: DispatchQueue(label: "weak"))
        }
        weak let gone = app
        app = nil
        #expect(gone == nil)
        #expect(manager.delegate == nil)
        await bench.wait()
        #expect(manager.state == .poweredOn)
    }

    @Test("A central manager's commands before power on only log a line that names the manager", .behaviour("4.1.1"))
    func earlyCentral() async {
        let line =
            "API MISUSE: <CBCentralManager: \(bench.central.address)> can only accept this command while in the "
            + "powered on state"
        bench.central.scanForPeripherals(withServices: nil)
        bench.central.stopScan()
        bench.central.registerForConnectionEvents()
        #expect(bench.lines.take() == [line, line, line])
        #expect(!bench.central.isScanning)
        await bench.wait(5)
        #expect(bench.app.take() == ["state 5"])
    }

    @Test("A peripheral manager's commands before power on only log a line that names the manager", .behaviour("4.1.2"))
    func earlyServer() async {
        let service = CBMutableService(type: someService, primary: true)
        bench.server.add(service)
        bench.server.startAdvertising(nil)
        bench.server.stopAdvertising()
        bench.server.remove(service)
        bench.server.removeAllServices()
        let lines = bench.lines.take()
        #expect(lines.count == 5)
        let line = "<CBPeripheralManager: \(bench.server.address)> can only accept this command while in the powered on"
        #expect(lines.allSatisfy { $0.hasPrefix("API MISUSE: \(line)") })
        await bench.wait(5)
        #expect(bench.serverApp.take() == ["state 5"])
    }

    @Test("Nothing is retrieved before power on", .behaviour("1.2.6"))
    func earlyRetrieving() {
        #expect(bench.central.retrievePeripherals(withIdentifiers: [UUID()]).isEmpty)
        #expect(bench.central.retrieveConnectedPeripherals(withServices: [someService]).isEmpty)
        #expect(bench.lines.take().count == 2)
    }

    @Test("Commands to a disconnected peripheral log a line that describes it", .behaviour("4.1.3"))
    func notConnected() async throws {
        await bench.publish(.dynamic())
        let peripheral = try #require(await bench.find())
        _ = bench.app.take()
        peripheral.delegate = bench.app
        peripheral.readRSSI()
        peripheral.discoverServices(nil)
        let line =
            "API MISUSE: <CBPeripheral: \(peripheral.address), identifier = \(peripheral.identifier), "
            + "name = (null), state = disconnected> can only accept commands while in the connected state"
        #expect(bench.lines.take() == [line, line])
        await bench.wait()
        #expect(bench.app.take().isEmpty)
    }

    @Test("Objects describe themselves as on Apple platforms", .behaviour("4.1.4"))
    func descriptions() async throws {
        let peripheral = try #require(await bench.connect(.dynamic("2345", [.read, .write])))
        let found = try #require(peripheral.characteristic("2345"))
        peripheral.readValue(for: found)
        await bench.wait()
        bench.serverApp.reads[0].value = Data([0xF0, 0x9F, 0x8C, 0x88])
        bench.server.respond(to: bench.serverApp.reads[0], withResult: .success)
        await bench.wait()
        #expect(
            found.description == "<CBCharacteristic: \(found.address), UUID = 2345, properties = 0xA, "
                + "value = <f09f8c88>, notifying = NO>"
        )
        #expect(
            peripheral.description == "<CBPeripheral: \(peripheral.address), identifier = \(peripheral.identifier), "
                + "name = \(peripheral.name ?? "(null)"), state = connected>"
        )
    }

    @Test("When the host resets, peripherals become invalid and receive no callbacks", .behaviour("4.1.5", "2.1.2"))
    func reset() async throws {
        let peripheral = try #require(await bench.connect(.dynamic()))
        let found = try #require(peripheral.characteristic("2A37"))
        bench.phone.unplugRadio()
        await bench.wait(5)
        #expect(bench.app.take() == ["state 1", "state 2"])
        bench.phone.plugInRadio()
        await bench.wait(5)
        #expect(bench.app.take() == ["state 5"])
        bench.central.connect(peripheral)
        peripheral.readValue(for: found)
        #expect(bench.lines.take().count == 2)
        await bench.wait(5)
        #expect(bench.app.take().isEmpty)
        let again = bench.central.retrievePeripherals(withIdentifiers: [peripheral.identifier])
        #expect(again.count == 1)
        #expect(again.first !== peripheral)
    }

    @Test(
        "Switching off Bluetooth ends the scan and links without callbacks, and peripherals stay valid",
        .behaviour("2.1.1", "2.1.3", "4.2.5")
    )
    func switchedOff() async throws {
        let peripheral = try #require(await bench.connect(.dynamic()))
        bench.central.scanForPeripherals(withServices: nil)
        bench.phone.switchBluetoothOff()
        await bench.wait()
        #expect(bench.app.take().filter { !$0.hasPrefix("discovered") } == ["state 4"])
        #expect(!bench.central.isScanning)
        #expect(peripheral.state == .disconnected)
        #expect(peripheral.services == nil)
        await bench.wait(5)
        #expect(bench.serverApp.take().isEmpty)
        bench.phone.switchBluetoothOn()
        await bench.wait(10)
        #expect(bench.app.take() == ["state 5"])
        bench.central.connect(peripheral)
        await bench.wait(5)
        #expect(bench.app.take() == ["connected 2"])
    }

    @Test("Services and the advertisement survive switching off Bluetooth", .behaviour("2.3.1"))
    func serverSwitchedOff() async throws {
        let characteristic = CBMutableCharacteristic.dynamic()
        let peripheral = try #require(await bench.connect(characteristic))
        peripheral.setNotifyValue(true, for: try #require(peripheral.characteristic("2A37")))
        await bench.wait()
        #expect(characteristic.subscribedCentrals?.count == 1)
        bench.sensor.switchBluetoothOff()
        await bench.wait()
        #expect(bench.server.state == .poweredOff)
        #expect(!bench.server.isAdvertising)
        #expect(characteristic.subscribedCentrals?.isEmpty == true)
        bench.sensor.switchBluetoothOn()
        await bench.wait()
        #expect(bench.server.isAdvertising)
        _ = bench.app.take()
        bench.central.connect(peripheral)
        await bench.wait(5)
        peripheral.discoverServices(nil)
        await bench.wait()
        #expect(peripheral.services?.map(\.uuid) == [someService])
    }

    @Test(
        "If the radio is lost after a refused update, only the state is reported, and later updates are sent",
        .behaviour("2.3.16"),
        arguments: UInt64(0)..<16
    )
    func updatesSwitchedOff(seed: UInt64) async throws {
        let bench = WorldBench(seed: seed, loss: 0.1), local = CBMutableCharacteristic.dynamic("2A37", .indicate)
        let peripheral = try #require(await bench.connect(local))
        peripheral.setNotifyValue(true, for: try #require(peripheral.characteristic("2A37")))
        await bench.wait()
        _ = bench.serverApp.take()
        while bench.server.updateValue(Data([1]), for: local, onSubscribedCentrals: nil) {}
        bench.sensor.switchBluetoothOff()
        await bench.wait(10)
        #expect(bench.serverApp.take().last == "state 4")
        bench.sensor.switchBluetoothOn()
        await bench.wait()
        bench.central.connect(peripheral)
        await bench.wait(5)
        await bench.explore(peripheral)
        peripheral.setNotifyValue(true, for: try #require(peripheral.characteristic("2A37")))
        await bench.wait()
        #expect(local.subscribedCentrals?.count == 1)
        _ = bench.app.take()
        #expect(bench.server.updateValue(Data([2]), for: local, onSubscribedCentrals: nil))
        await bench.wait()
        #expect(bench.app.take() == ["value 2A37 [2] ok"])
        #expect(!bench.serverApp.take().contains("ready"))
    }

    @Test("Services survive if Bluetooth is switched off again before the app handles power on", .behaviour("2.3.1"))
    func serverSwitchedOffQuickly() async throws {
        let characteristic = CBMutableCharacteristic.dynamic()
        await bench.publish(characteristic)
        await bench.wait()
        bench.sensor.switchBluetoothOff()
        await bench.wait()
        bench.sensor.switchBluetoothOn()
        bench.sensor.switchBluetoothOff()
        await bench.wait()
        bench.sensor.switchBluetoothOn()
        await bench.wait()
        #expect(bench.serverApp.take().filter { $0.hasPrefix("added") } == ["added FFF0 ok"])
        try await expectService(characteristic)
    }

    @Test("A suspended app's services survive switching Bluetooth off and on", .behaviour("2.3.1"))
    func sleepingServerSwitchedOff() async throws {
        let characteristic = CBMutableCharacteristic.dynamic()
        await bench.publish(characteristic)
        await bench.wait()
        bench.sensor.sendAppsToBackground(declaring: [])
        for _ in 0..<2 {
            bench.sensor.switchBluetoothOff()
            await bench.wait()
            bench.sensor.switchBluetoothOn()
            await bench.wait()
        }
        bench.sensor.switchBluetoothOff()
        await bench.wait()
        bench.sensor.bringAppsToForeground()
        await bench.wait()
        bench.sensor.switchBluetoothOn()
        await bench.wait()
        try await expectService(characteristic)
    }

    /// A central finds the service, which sends values.
    private func expectService(_ characteristic: CBMutableCharacteristic) async throws {
        #expect(bench.server.isAdvertising)
        let peripheral = try #require(await bench.find())
        bench.central.connect(peripheral)
        await bench.explore(peripheral)
        #expect(peripheral.services?.map(\.uuid) == [someService])
        #expect(bench.server.updateValue(Data([1]), for: characteristic, onSubscribedCentrals: nil))
    }

    @Test("A state below powered off removes services and the advertisement", .behaviour("2.3.2"))
    func serverReset() async throws {
        let characteristic = CBMutableCharacteristic.dynamic()
        await bench.publish(characteristic)
        await bench.wait()
        let service = try #require(characteristic.service as? CBMutableService)
        bench.sensor.unplugRadio()
        await bench.wait(3)
        bench.sensor.plugInRadio()
        await bench.wait(3)
        #expect(!bench.server.isAdvertising)
        bench.central.scanForPeripherals(withServices: nil)
        await bench.wait(5)
        #expect(bench.app.peripherals.isEmpty)
        _ = bench.serverApp.take()
        bench.server.add(service)
        await bench.wait()
        #expect(bench.serverApp.take() == ["added FFF0 ok"])
    }
}
