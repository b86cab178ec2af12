import BLESimulation
import CoreBluetooth
import Testing

@Suite("End to end between two apps")
struct EndToEndTests {
    let bench = WorldBench()

    private func characteristic(
        _ properties: CBCharacteristicProperties,
        _ permissions: CBAttributePermissions = [.readable, .writeable],
        value: Data? = nil
    ) -> CBMutableCharacteristic {
        CBMutableCharacteristic(
            type: CBUUID(string: "FFF1"),
            properties: properties,
            value: value,
            permissions: permissions
        )
    }

    @Test("A fixed value is read without asking the app")
    func fixedValue() async throws {
        let value = Data(repeating: 9, count: 512)
        let peripheral = try #require(await bench.connect(characteristic(.read, .readable, value: value)))
        let found = try #require(peripheral.characteristic("FFF1"))
        peripheral.readValue(for: found)
        await bench.wait()
        #expect(found.value == value)
        #expect(bench.serverApp.take().isEmpty)
    }

    @Test("An error reaches the reader with its code", arguments: [0x01, 0x0E, 0x80, 0x9F, 0xFF])
    func refusal(code: Int) async throws {
        let peripheral = try #require(await bench.connect(characteristic([.read, .write])))
        let found = try #require(peripheral.characteristic("FFF1"))
        peripheral.readValue(for: found)
        await bench.wait()
        bench.server.respond(to: bench.serverApp.reads[0], withResult: try #require(.init(rawValue: code)))
        await bench.wait()
        #expect(bench.app.take() == ["value FFF1 [] CBATTError \(code)"])
    }

    @Test("A long value is read in parts, each from its offset")
    func longRead() async throws {
        let peripheral = try #require(await bench.connect(characteristic(.read)))
        let found = try #require(peripheral.characteristic("FFF1"))
        let value = Data((0..<400).map { UInt8(truncatingIfNeeded: $0) })
        peripheral.readValue(for: found)
        var answered = 0
        for _ in 0..<30 where found.value == nil {
            await bench.world.advance(by: .milliseconds(200))
            for request in bench.serverApp.reads.dropFirst(answered) {
                answered += 1
                request.value = value.dropFirst(request.offset)
                bench.server.respond(to: request, withResult: .success)
            }
        }
        #expect(found.value == value)
    }

    @Test("A long write is one group, and a refused write changes nothing")
    func longWrite() async throws {
        let peripheral = try #require(await bench.connect(characteristic(.write)))
        let found = try #require(peripheral.characteristic("FFF1"))
        peripheral.writeValue(Data(repeating: 1, count: 512), for: found, type: .withResponse)
        await bench.wait()
        let group = try #require(bench.serverApp.writes.first)
        #expect(group.reduce(0) { $0 + ($1.value?.count ?? 0) } == 512)
        #expect(bench.app.take().isEmpty)
        bench.server.respond(to: group[0], withResult: .invalidAttributeValueLength)
        await bench.wait()
        #expect(bench.app.take() == ["written FFF1 CBATTError 13"])
    }

    @Test("A protected value can be read and subscribed to by a device that pairs")
    func trusted() async throws {
        let secret = characteristic([.read, .notifyEncryptionRequired], .readEncryptionRequired)
        let peripheral = try #require(await bench.connect(secret))
        let found = try #require(peripheral.characteristic("FFF1"))
        #expect(found.properties == [.read, .notify])
        peripheral.readValue(for: found)
        peripheral.setNotifyValue(true, for: found)
        await bench.wait()
        #expect(bench.serverApp.take() == ["read FFF1 0"])
        let request = try #require(bench.serverApp.reads.first)
        request.value = Data([7])
        bench.server.respond(to: request, withResult: .success)
        await bench.wait()
        #expect(bench.app.take() == ["value FFF1 [7] ok", "notifying true ok"])
        #expect(secret.subscribedCentrals?.count == 1)
    }

    @Test(
        "A value too long for a notification is truncated",
        arguments: [CBCharacteristicProperties.notify, .indicate]
    )
    func cutValue(property: CBCharacteristicProperties) async throws {
        let sending = characteristic(property)
        let peripheral = try #require(await bench.connect(sending))
        let found = try #require(peripheral.characteristic("FFF1"))
        peripheral.setNotifyValue(true, for: found)
        await bench.wait()
        let central = try #require(sending.subscribedCentrals?.first)
        let value = Data((0..<600).map { UInt8(truncatingIfNeeded: $0) })
        #expect(bench.server.updateValue(value, for: sending, onSubscribedCentrals: [central]))
        await bench.wait()
        #expect(found.value == value.prefix(512))
        peripheral.setNotifyValue(false, for: found)
        await bench.wait()
        #expect(sending.subscribedCentrals?.isEmpty == true)
        #expect(bench.server.updateValue(value, for: sending, onSubscribedCentrals: nil))
    }

    @Test("A connected central learns of added and removed services")
    func changedServices() async throws {
        let peripheral = try #require(await bench.connect(characteristic(.read)))
        let service = CBMutableService(type: CBUUID(string: "FFE0"), primary: true)
        bench.server.add(service)
        await bench.wait()
        #expect(bench.app.take() == ["modified []"])
        peripheral.discoverServices(nil)
        await bench.wait()
        #expect(peripheral.services?.map(\.uuid.uuidString) == ["FFF0", "FFE0"])
        bench.server.remove(service)
        await bench.wait()
        #expect(bench.app.take().last == #"modified ["FFE0"]"#)
        #expect(peripheral.services?.map(\.uuid.uuidString) == ["FFF0"])
    }

    @Test("Two apps of one machine share a connection, which ends with the last of them")
    func sharedConnection() async throws {
        let peripheral = try #require(await bench.connect(characteristic(.read)))
        let other = CentralApp()
        let manager = bench.phone.inhabit { CBCentralManager(delegate: other, queue: DispatchQueue(label: "other")) }
        await bench.wait()
        let found = manager.retrieveConnectedPeripherals(withServices: [CBUUID(string: "FFF0")])
        let shared = try #require(found.first)
        #expect(shared.identifier == peripheral.identifier)
        #expect(shared.state == .disconnected)
        manager.connect(shared)
        await bench.wait()
        #expect(shared.state == .connected)
        bench.central.cancelPeripheralConnection(peripheral)
        await bench.wait()
        #expect(bench.app.take().last == "disconnected ok 0")
        #expect(shared.state == .connected)
        shared.readRSSI()
        await bench.wait()
        #expect(other.take().last?.hasPrefix("rssi -") == true)
        manager.cancelPeripheralConnection(shared)
        await bench.wait()
        #expect(other.take().last == "disconnected ok 0")
        #expect(manager.retrieveConnectedPeripherals(withServices: [CBUUID(string: "FFF0")]).isEmpty)
    }

    @Test("A connection to an absent device waits indefinitely, and can be cancelled")
    func pendingConnection() async throws {
        let peripheral = try #require(await bench.connect(characteristic(.read)))
        bench.central.cancelPeripheralConnection(peripheral)
        await bench.wait()
        bench.server.stopAdvertising()
        bench.central.connect(peripheral)
        _ = bench.app.take()
        await bench.wait(3600)
        #expect(peripheral.state == .connecting)
        #expect(bench.app.take().isEmpty)
        bench.server.startAdvertising([CBAdvertisementDataServiceUUIDsKey: [CBUUID(string: "FFF0")]])
        await bench.wait(10)
        #expect(bench.app.take() == ["connected 2"])
        bench.central.cancelPeripheralConnection(peripheral)
        await bench.wait()
        bench.server.stopAdvertising()
        bench.central.connect(peripheral)
        await bench.wait()
        bench.central.cancelPeripheralConnection(peripheral)
        await bench.wait()
        #expect(bench.app.take() == ["disconnected ok 0", "disconnected ok 0"])
    }

    @Test("A known peripheral is connected without scanning")
    func retrieved() async throws {
        let peripheral = try #require(await bench.connect(characteristic(.read)))
        bench.central.cancelPeripheralConnection(peripheral)
        await bench.wait()
        let app = CentralApp()
        let manager = bench.phone.inhabit { CBCentralManager(delegate: app, queue: DispatchQueue(label: "later")) }
        await bench.wait()
        let known = try #require(manager.retrievePeripherals(withIdentifiers: [peripheral.identifier]).first)
        manager.connect(known)
        await bench.wait(5)
        #expect(known.state == .connected)
    }

    @Test("A device is found once per scan, or every time if the app asks for duplicates")
    func duplicates() async {
        await bench.wait()
        bench.server.startAdvertising([CBAdvertisementDataLocalNameKey: "Sensor"])
        bench.central.scanForPeripherals(withServices: nil)
        await bench.wait(10)
        let once = bench.app.take().count { $0.hasPrefix("discovered") }
        #expect((1...2).contains(once))
        #expect(bench.app.advertisements.last?[CBAdvertisementDataLocalNameKey] as? String == "Sensor")
        bench.central.scanForPeripherals(
            withServices: nil,
            options: [CBCentralManagerScanOptionAllowDuplicatesKey: true]
        )
        await bench.wait(10)
        #expect(bench.app.take().count { $0.hasPrefix("discovered") } > 20)
        bench.central.scanForPeripherals(withServices: [CBUUID(string: "180D")])
        await bench.wait(10)
        #expect(bench.app.take().isEmpty)
    }
}
