import BLEHost
import BLESimulation
import Testing

@testable import CoreBluetooth

@Suite("Apps' view of a peripheral's attributes")
struct AttributeBehaviourTests {
    let bench = WorldBench()
    private static let all: [CBCharacteristicProperties] = [.read, .write, .notify, .indicate]

    private func local(
        _ uuid: String,
        _ properties: CBCharacteristicProperties,
        _ permissions: CBAttributePermissions = [.readable, .writeable],
        value: Data? = nil
    ) -> CBMutableCharacteristic {
        CBMutableCharacteristic(
            type: CBUUID(string: uuid),
            properties: properties,
            value: value,
            permissions: permissions
        )
    }

    @Test("The name is the advertised one until the GAP name is known, which then stays", .behaviour("1.6.1", "2.2.1"))
    func name() async throws {
        await bench.wait()
        bench.server.startAdvertising([CBAdvertisementDataLocalNameKey: "Seen"])
        bench.central.scanForPeripherals(withServices: nil)
        await bench.wait()
        bench.central.stopScan()
        let peripheral = try #require(bench.app.peripherals.first)
        #expect(peripheral.name == "Seen")
        _ = bench.app.take()
        bench.central.connect(peripheral)
        await bench.wait(5)
        #expect(peripheral.name == "sensor")
        #expect(bench.app.take() == ["connected 2", "name sensor"])
        bench.central.cancelPeripheralConnection(peripheral)
        await bench.wait()
        bench.central.scanForPeripherals(withServices: nil)
        await bench.wait()
        #expect(bench.app.advertisements.last?[CBAdvertisementDataLocalNameKey] as? String == "Seen")
        #expect(peripheral.name == "sensor")
    }

    @Test("A changed advertised name is reported before the discovery", .behaviour("2.2.1"))
    func advertisedName() async throws {
        await bench.wait()
        let options = [CBCentralManagerScanOptionAllowDuplicatesKey: true]
        bench.central.scanForPeripherals(withServices: nil, options: options)
        for name in ["One", "Two", "Three"] {
            bench.server.stopAdvertising()
            bench.server.startAdvertising([CBAdvertisementDataLocalNameKey: name])
            await bench.wait()
            let peripheral = try #require(bench.app.peripherals.first)
            peripheral.delegate = bench.app
            #expect(peripheral.name == name)
            let calls = bench.app.take()
            if name != "One" { #expect(calls.first == "name \(name)") }
            #expect(calls.count { $0.hasPrefix("name") } == (name == "One" ? 0 : 1))
            #expect(calls.contains { $0.hasPrefix("discovered \(name)") } == (name != "Three"))
            bench.app.reactions = [("name Three", { bench.central.stopScan() })]
        }
        bench.server.stopAdvertising()
        bench.server.startAdvertising([CBAdvertisementDataLocalNameKey: "Four"])
        await bench.wait()
        #expect(bench.app.take().isEmpty)
    }

    @Test(
        "Services are unknown at first, accumulate with each discovery, and are lost on disconnection",
        .behaviour("1.6.2", "1.6.6", "1.6.7", "1.7.2", "4.4.4"),
        arguments: UInt64(0)..<16
    )
    func services(seed: UInt64) async throws {
        let bench = WorldBench(seed: seed)
        await bench.publish(local("FFF1", .read), local("FFF2", .read))
        for type in ["FFE0", "FFE1"] { bench.server.add(CBMutableService(type: CBUUID(string: type), primary: true)) }
        let peripheral = try #require(await bench.find())
        bench.central.connect(peripheral)
        await bench.wait(5)
        #expect(peripheral.services == nil)
        peripheral.discoverServices([CBUUID(string: "FFE1")])
        await bench.wait()
        #expect(peripheral.services?.map(\.uuid.uuidString) == ["FFE1"])
        let first = peripheral.services?.first
        peripheral.discoverServices([CBUUID(string: "FFF0"), CBUUID(string: "180D")])
        await bench.wait()
        #expect(peripheral.services?.map(\.uuid.uuidString) == ["FFF0", "FFE1"])
        peripheral.discoverServices([])
        await bench.wait()
        #expect(peripheral.services?.map(\.uuid.uuidString) == ["FFF0", "FFE0", "FFE1"])
        #expect(peripheral.services?.last === first)
        let service = try #require(peripheral.services?.first)
        #expect((service.characteristics == nil, service.includedServices == nil) == (true, true))
        peripheral.discoverCharacteristics([CBUUID(string: "FFF2")], for: service)
        await bench.wait()
        #expect(service.characteristics?.map(\.uuid.uuidString) == ["FFF2"])
        #expect(service.characteristics?.first?.descriptors == nil)
        peripheral.discoverCharacteristics([], for: service)
        await bench.wait()
        #expect(service.characteristics?.map(\.uuid.uuidString) == ["FFF1", "FFF2"])
        bench.central.cancelPeripheralConnection(peripheral)
        await bench.wait()
        #expect(peripheral.services == nil)
        bench.central.connect(peripheral)
        await bench.wait(5)
        #expect(peripheral.services == nil)
        peripheral.discoverServices(nil)
        await bench.wait()
        #expect(peripheral.services?.map(\.uuid.uuidString) == ["FFF0", "FFE0", "FFE1"])
    }

    @Test("Included services are discovered, and must be published first", .behaviour("1.6.8", "1.3.7"))
    func includedServices() async throws {
        let part = CBMutableService(type: CBUUID(string: "FFE0"), primary: false)
        let whole = CBMutableService(type: CBUUID(string: "FFE1"), primary: true)
        whole.includedServices = [part]
        await bench.publish(local("FFF1", .read))
        bench.server.add(whole)
        await bench.wait()
        #expect(bench.serverApp.take().contains("added FFE1 CBError 1"))
        bench.server.add(part)
        bench.server.add(whole)
        await bench.wait()
        #expect(bench.serverApp.take() == ["added FFE0 ok", "added FFE1 ok"])
        let peripheral = try #require(await bench.find())
        bench.central.connect(peripheral)
        await bench.wait(5)
        peripheral.discoverServices([CBUUID(string: "FFE1")])
        await bench.wait()
        let found = try #require(peripheral.services?.first)
        #expect(found.isPrimary)
        peripheral.discoverIncludedServices(nil, for: found)
        await bench.wait()
        #expect(found.includedServices?.map(\.uuid.uuidString) == ["FFE0"])
        #expect(found.includedServices?.first?.isPrimary == false)
        #expect(found.includedServices?.first?.peripheral === peripheral)
        #expect(peripheral.services?.count == 1)
        #expect(bench.app.take().last == "included FFE1 ok")
    }

    @Test(
        "Descriptors are added automatically or by the app, and read with their types",
        .behaviour("1.6.9", "1.7.6", "1.7.7", "2.2.8")
    )
    func descriptors() async throws {
        let described = local("FFF1", [.read, .notify])
        described.descriptors = [
            CBMutableDescriptor(type: CBUUID(string: "2901"), value: "A note"),
            CBMutableDescriptor(type: CBUUID(string: "2904"), value: Data([4, 0, 1, 0x27, 1, 0, 0])),
        ]
        let peripheral = try #require(await bench.connect(described, local("FFF2", .read)))
        let found = try #require(peripheral.characteristic("FFF1"))
        let plain = try #require(peripheral.characteristic("FFF2"))
        peripheral.discoverDescriptors(for: found)
        peripheral.discoverDescriptors(for: plain)
        await bench.wait()
        #expect(Set(found.descriptors?.map(\.uuid.uuidString) ?? []) == ["2901", "2902", "2904"])
        #expect(plain.descriptors?.isEmpty == true)
        found.descriptors?.forEach { peripheral.readValue(for: $0) }
        await bench.wait()
        func value(_ type: String) -> Any? { found.descriptors?.first { $0.uuid == CBUUID(string: type) }?.value }
        #expect(value("2901") as? String == "A note")
        #expect(value("2902") as? NSNumber == 0)
        #expect(value("2904") as? Data == Data([4, 0, 1, 0x27, 1, 0, 0]))
        #expect(bench.app.take().suffix(3).allSatisfy { $0.hasPrefix("descriptor 290") && $0.hasSuffix("ok") })
        let note = try #require(found.descriptors?.first { $0.uuid == CBUUID(string: "2901") })
        peripheral.writeValue(Data("Another".utf8), for: note)
        await bench.wait()
        #expect(bench.app.take() == ["written 2901 CBATTError 3"])
        #expect(value("2901") as? String == "A note")
    }

    @Test(
        "Unsupported reads and notifications fail, and unsupported writes are dropped with a warning",
        .behaviour("1.6.10", "1.6.13", "1.6.17", "1.6.20", "4.6.4")
    )
    func properties() async throws {
        let peripheral = try #require(await bench.connect(local("FFF1", .write), local("FFF2", .read)))
        let writable = try #require(peripheral.characteristic("FFF1"))
        let readable = try #require(peripheral.characteristic("FFF2"))
        peripheral.readValue(for: writable)
        peripheral.setNotifyValue(true, for: readable)
        peripheral.writeValue(Data([1]), for: readable, type: .withoutResponse)
        await bench.wait()
        #expect(bench.app.take() == ["value FFF1 [] CBATTError 2", "notifying false CBATTError 6"])
        let lines = bench.lines.take()
        #expect(lines.count == 1)
        #expect(lines[0].hasPrefix("WARNING: <CBCharacteristic: "))
        #expect(bench.serverApp.take().isEmpty)
    }

    @Test("Permissions decide, even if properties promise more", .behaviour("4.6.4", "2.2.7"))
    func permissions() async throws {
        let promised = local("FFF1", [.read, .write], [])
        let peripheral = try #require(await bench.connect(promised))
        let found = try #require(peripheral.characteristic("FFF1"))
        #expect(found.properties == [.read, .write])
        peripheral.readValue(for: found)
        peripheral.writeValue(Data([1]), for: found, type: .withResponse)
        await bench.wait()
        #expect(bench.app.take() == ["value FFF1 [] CBATTError 2", "written FFF1 CBATTError 3"])
        #expect(bench.serverApp.take().isEmpty)
    }

    @Test("The MTU is negotiated before the app learns of the connection", .behaviour("4.4.2", "1.6.11", "1.5.1"))
    func lengths() async throws {
        let sending = local("FFF1", [.notify, .write])
        await bench.publish(sending)
        let peripheral = try #require(await bench.find())
        #expect(peripheral.maximumWriteValueLength(for: .withResponse) == 512)
        #expect(peripheral.maximumWriteValueLength(for: .withoutResponse) == 20)
        var length = 0
        bench.app.reactions = [("connected", { length = peripheral.maximumWriteValueLength(for: .withoutResponse) })]
        bench.central.connect(peripheral)
        await bench.wait(5)
        #expect(length == 495)
        peripheral.discoverServices(nil)
        await bench.wait()
        peripheral.discoverCharacteristics(nil, for: try #require(peripheral.services?.first))
        await bench.wait()
        peripheral.setNotifyValue(true, for: try #require(peripheral.characteristic("FFF1")))
        await bench.wait()
        #expect(try #require(sending.subscribedCentrals?.first).maximumUpdateValueLength == 495)
    }

    @Test(
        "A long value is copied, written in parts as one group, and does not change the characteristic",
        .behaviour("1.6.12", "1.6.14", "2.3.10", "2.2.6"),
        arguments: UInt64(0)..<16
    )
    func longWrite(seed: UInt64) async throws {
        let bench = WorldBench(seed: seed, loss: 0.1)
        let peripheral = try #require(await bench.connect(local("FFF1", .write)))
        let found = try #require(peripheral.characteristic("FFF1"))
        var data = Data((0..<512).map { UInt8(truncatingIfNeeded: $0) })
        let original = data
        peripheral.writeValue(data, for: found, type: .withResponse)
        data[0] = 99
        await bench.wait(5)
        #expect(bench.serverApp.writes.count == 1)
        let parts = try #require(bench.serverApp.writes.first)
        var offset = 0
        for part in parts {
            #expect(part.offset == offset)
            offset += part.value?.count ?? 0
        }
        #expect(parts.reduce(Data()) { $0 + ($1.value ?? Data()) } == original)
        #expect(bench.app.take().isEmpty)
        bench.server.respond(to: parts[0], withResult: .success)
        await bench.wait()
        #expect(bench.app.take() == ["written FFF1 ok"])
        #expect(found.value == nil)
    }

    @Test(
        "Writes without response only report free space, and none is lost",
        .behaviour("1.6.3", "1.6.20", "2.3.7"),
        arguments: UInt64(0)..<16
    )
    func backPressure(seed: UInt64) async throws {
        let bench = WorldBench(seed: seed, loss: 0.2)
        let peripheral = try #require(await bench.connect(local("FFF1", .writeWithoutResponse)))
        let found = try #require(peripheral.characteristic("FFF1"))
        #expect(peripheral.canSendWriteWithoutResponse)
        var sent = 0
        func send() {
            while sent < 200, peripheral.canSendWriteWithoutResponse {
                peripheral.writeValue(Data([UInt8(sent)]), for: found, type: .withoutResponse)
                sent += 1
            }
        }
        bench.app.reactions = [("ready", send)]
        send()
        #expect(sent < 200)
        #expect(!peripheral.canSendWriteWithoutResponse)
        await bench.wait(20)
        #expect(sent == 200)
        #expect(peripheral.canSendWriteWithoutResponse)
        let calls = Set(bench.app.take())
        #expect(calls == ["ready"])
        #expect(bench.serverApp.writes.map { $0[0].value } == (0..<200).map { Data([UInt8($0)]) })
    }

    @Test("The RSSI can be read while connected", .behaviour("1.6.5"))
    @available(*, deprecated)
    func rssi() async throws {
        let peripheral = try #require(await bench.connect(local("FFF1", .read)))
        #expect(peripheral.rssi == nil)
        peripheral.readRSSI()
        await bench.wait()
        let strength = try #require(peripheral.rssi)
        #expect(bench.app.take() == ["rssi \(strength) ok"])
        #expect((-90 ..< -20).contains(strength.intValue))
    }

    @Test(
        "Notifications are requested once if supported, and confirmed immediately if already on",
        .behaviour("1.6.15", "1.6.16", "2.2.4", "2.2.5", "1.7.3", "1.7.8", "2.3.15")
    )
    func notifying() async throws {
        let sending = local("FFF1", [.notify, .indicate, .read])
        let peripheral = try #require(await bench.connect(sending))
        let found = try #require(peripheral.characteristic("FFF1"))
        peripheral.setNotifyValue(true, for: found)
        await bench.wait()
        #expect(bench.app.take() == ["notifying true ok"])
        #expect(found.isNotifying)
        #expect(found.subscription == .notifications)
        #expect(bench.serverApp.take() == ["subscribed FFF1 1 495"])
        #expect(bench.serverApp.centrals.first === sending.subscribedCentrals?.first)
        let trace = bench.world.traceHash
        peripheral.setNotifyValue(true, for: found)
        await bench.world.advance(by: .zero)
        #expect(bench.app.take() == ["notifying true ok"])
        #expect(bench.world.traceHash == trace)
        for number in UInt8(1)...3 {
            #expect(bench.server.updateValue(Data([number]), for: sending, onSubscribedCentrals: nil))
        }
        await bench.wait()
        #expect(bench.app.take() == (1...3).map { "value FFF1 [\($0)] ok" })
        #expect(found.value == Data([3]))
        #expect(sending.subscribedCentrals?.count == 1)
        peripheral.setNotifyValue(false, for: found)
        await bench.wait()
        #expect(bench.app.take() == ["notifying false ok"])
        #expect(!found.isNotifying)
        #expect(sending.subscribedCentrals?.isEmpty == true)
        peripheral.setNotifyValue(false, for: found)
        await bench.wait()
        #expect(bench.app.take() == ["notifying false ok"])
    }

    @Test("Requests made together are answered in that order", .behaviour("4.4.1", "2.2.9"), arguments: UInt64(0)..<16)
    func order(seed: UInt64) async throws {
        let bench = WorldBench(seed: seed, loss: 0.2)
        let fixed = local("FFF1", .read, .readable, value: Data([7])), sending = local("FFF2", .notify)
        let peripheral = try #require(await bench.connect(fixed, sending))
        let readable = try #require(peripheral.characteristic("FFF1"))
        let notifying = try #require(peripheral.characteristic("FFF2"))
        let service = try #require(peripheral.services?.first)
        var expected: [String] = []
        for number in 0..<20 {
            peripheral.readValue(for: readable)
            peripheral.setNotifyValue(number.isMultiple(of: 2), for: notifying)
            peripheral.discoverServices(nil)
            peripheral.discoverIncludedServices(nil, for: service)
            peripheral.discoverCharacteristics(nil, for: service)
            peripheral.discoverDescriptors(for: notifying)
            expected += [
                "value FFF1 [7] ok", "notifying \(number.isMultiple(of: 2)) ok", "services ok",
                "included FFF0 ok", "characteristics FFF0 ok", "descriptors FFF2 ok",
            ]
        }
        await bench.wait(30)
        #expect(bench.app.take() == expected)
        #expect(!notifying.isNotifying)
        #expect(sending.subscribedCentrals?.isEmpty == true)
    }
}
