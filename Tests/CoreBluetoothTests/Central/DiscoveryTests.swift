import BLEHost
import BLEWire
import Testing

@testable import CoreBluetooth

@Suite("Discovery")
struct DiscoveryTests {
    let bench = CentralBench()

    @Test("Requests name the wanted UUIDs, and nil or an empty list means all")
    func requests() async {
        let peripheral = await bench.connect()
        await bench.tell(.servicesDiscovered(.success([Fixture.heartRate])))
        let service = peripheral.services![0], type = CBUUID(string: "2A37"), range = Fixture.heartRate.range
        peripheral.discoverServices(nil)
        peripheral.discoverServices([])
        peripheral.discoverServices([CBUUID(string: "180D")])
        peripheral.discoverIncludedServices([type], for: service)
        peripheral.discoverCharacteristics([type], for: service)
        peripheral.discoverCharacteristics(nil, for: service)
        #expect(
            bench.session.take()
                == ([
                    .discoverServices(only: []), .discoverServices(only: []), .discoverServices(only: [.short(0x180D)]),
                    .discoverIncludedServices(in: range, only: [.short(0x2A37)]),
                    .discoverCharacteristics(in: range, only: [.short(0x2A37)]),
                    .discoverCharacteristics(in: range, only: []),
                ] as [PeerRequest]).map { .peer(CentralBench.peer, $0) }
        )
    }

    @Test("Services accumulate over several discoveries, in order, each as the same object")
    func services() async {
        let peripheral = await bench.connect()
        #expect(peripheral.services == nil)
        await bench.tell(.servicesDiscovered(.success([])))
        #expect(peripheral.services == [])
        await bench.tell(.servicesDiscovered(.success([Fixture.battery])))
        let battery = peripheral.services![0]
        await bench.tell(.servicesDiscovered(.success([Fixture.heartRate])))
        await bench.tell(.servicesDiscovered(.success([Fixture.heartRate, Fixture.battery])))
        #expect(peripheral.services!.map(\.uuid.uuidString) == ["180D", "180F"])
        #expect(peripheral.services![1] === battery)
        #expect(battery.isPrimary)
        #expect(battery.peripheral === peripheral)
        #expect(battery.characteristics == nil)
        #expect(battery.includedServices == nil)
        #expect(bench.app.take() == Array(repeating: "services ok", count: 4))
    }

    @Test("The peer's own GAP and GATT services are hidden", arguments: [0x1800, 0x1801] as [UInt16])
    func hidden(uuid: UInt16) async {
        let peripheral = await bench.connect()
        let own = DiscoveredService(uuid: .short(uuid), range: .of(1...9), isPrimary: true)
        await bench.tell(.servicesDiscovered(.success([own, Fixture.heartRate])))
        #expect(peripheral.services!.map(\.uuid.uuidString) == ["180D"])
    }

    @Test("A failed discovery keeps what was found before")
    func failure() async {
        let peripheral = await bench.connect()
        await bench.tell(.servicesDiscovered(.success([Fixture.heartRate])))
        await bench.tell(.servicesDiscovered(.failure(.notConnected)))
        #expect(bench.app.take() == ["services ok", "services CBError 3"])
        #expect(peripheral.services!.count == 1)
    }

    @Test("Included services are existing objects of the peripheral, or new ones")
    func included() async {
        let peripheral = await bench.connect()
        await bench.tell(.servicesDiscovered(.success([Fixture.heartRate, Fixture.battery])))
        let owner = peripheral.services![0]
        await bench.tell(
            .includedServicesDiscovered(in: Fixture.heartRate.range, .success([Fixture.battery, Fixture.part]))
        )
        #expect(bench.app.take() == ["services ok", "included 180D ok"])
        #expect(owner.includedServices!.map(\.uuid.uuidString) == ["180F", "1812"])
        #expect(owner.includedServices![0] === peripheral.services![1])
        #expect(!owner.includedServices![1].isPrimary)
        #expect(peripheral.services!.count == 2)
        await bench.tell(
            .characteristicsDiscovered(
                in: Fixture.part.range,
                .success([Fixture.characteristic(0x2A4A, .read, value: 32, end: 32)])
            )
        )
        #expect(bench.app.take() == ["characteristics 1812 ok"])
        #expect(owner.includedServices![1].characteristics?.count == 1)
    }

    @Test("Characteristics accumulate in order, each as the same object")
    func characteristics() async {
        let peripheral = await bench.connect()
        await bench.tell(.servicesDiscovered(.success([Fixture.heartRate])))
        let service = peripheral.services![0], range = Fixture.heartRate.range
        let location = Fixture.characteristic(0x2A38, .read, value: 16, end: 16)
        let measurement = Fixture.characteristic(0x2A37, .notify)
        await bench.tell(.characteristicsDiscovered(in: range, .success([location])))
        let first = service.characteristics![0]
        await bench.tell(.characteristicsDiscovered(in: range, .success([measurement, location])))
        #expect(service.characteristics!.map(\.uuid.uuidString) == ["2A37", "2A38"])
        #expect(service.characteristics![1] === first)
        #expect(first.service === service)
        #expect(first.properties == .read)
        #expect(first.value == nil)
        #expect(first.descriptors == nil)
        #expect(!first.isNotifying)
    }

    @Test("Descriptors are discovered after the value, up to the end of the characteristic")
    func descriptors() async {
        let (peripheral, characteristic) = await bench.characteristic(.notify)
        peripheral.discoverDescriptors(for: characteristic)
        let handle = AttributeHandle(wire: 12)
        #expect(
            bench.session.take() == [.peer(CentralBench.peer, .discoverDescriptors(of: handle, in: .of(13...14)))]
        )
        let found = DiscoveredDescriptor(uuid: .short(0x2902), handle: AttributeHandle(wire: 13))
        await bench.tell(.descriptorsDiscovered(of: handle, .success([found])))
        let descriptor = characteristic.descriptors![0]
        #expect(descriptor.uuid.uuidString == CBUUIDClientCharacteristicConfigurationString)
        #expect(descriptor.characteristic === characteristic)
        await bench.tell(.descriptorsDiscovered(of: handle, .success([found])))
        #expect(characteristic.descriptors![0] === descriptor)
        #expect(bench.app.take() == ["descriptors 2A37 ok", "descriptors 2A37 ok"])
    }

    @Test("Descriptors are requested even for a characteristic without room for any")
    func noDescriptors() async {
        let (peripheral, _) = await bench.characteristic(.read)
        await bench.tell(
            .characteristicsDiscovered(
                in: Fixture.heartRate.range,
                .success([Fixture.characteristic(0x2A38, .read, value: 16, end: 16)])
            )
        )
        peripheral.discoverDescriptors(for: peripheral.services![0].characteristics![1])
        let handle = AttributeHandle(wire: 16)
        #expect(bench.session.take() == [.peer(CentralBench.peer, .discoverDescriptors(of: handle, in: nil))])
    }

    @Test("Changed services are reported and removed, with all their contents")
    func modified() async {
        let (peripheral, characteristic) = await bench.characteristic([.read, .notify])
        await bench.tell(.servicesDiscovered(.success([Fixture.battery])))
        await bench.tell(.subscriptionChanged(AttributeHandle(wire: 12), .notifications, nil))
        #expect(characteristic.isNotifying)
        _ = bench.app.take()
        let service = peripheral.services![0]
        await bench.tell(.servicesModified(.of(15...16)))
        #expect(bench.app.take() == [#"modified ["180D"]"#])
        #expect(bench.app.invalidated[0] === service)
        #expect(peripheral.services!.map(\.uuid.uuidString) == ["180F"])
        #expect(!characteristic.isNotifying)
        await bench.tell(.valueNotified(AttributeHandle(wire: 12), [1]))
        #expect(bench.app.take().isEmpty)
        peripheral.readValue(for: characteristic)
        peripheral.discoverCharacteristics(nil, for: service)
        await bench.session.settle()
        #expect(bench.session.take().isEmpty)
        #expect(bench.app.take() == ["value 2A37 [] CBError 2", "characteristics 180D CBError 2"])
    }

    @Test("Requests about removed services are answered first, and never by those in their place")
    func askedAboutModified() async {
        let (peripheral, old) = await bench.characteristic([.read, .notify])
        let found = PeerEvent.characteristicsDiscovered(
            in: Fixture.heartRate.range,
            .success([Fixture.characteristic(0x2A37, [.read, .notify])])
        )
        for _ in 0..<20 { peripheral.readValue(for: old) }
        peripheral.readRSSI()
        await bench.tell(.servicesModified(.all))
        let voided = Array(repeating: "value 2A37 [] CBError 2", count: 20)
        #expect(bench.app.take() == voided + [#"modified ["180D"]"#])
        await bench.tell(.servicesDiscovered(.success([Fixture.heartRate])))
        await bench.tell(found)
        _ = (bench.app.take(), bench.session.take())
        let new = peripheral.services![0].characteristics![0]
        #expect(new !== old)
        peripheral.readValue(for: new)
        for _ in 0..<16 { await bench.tell(.valueRead(AttributeHandle(wire: 12), .success([1]))) }
        #expect(bench.app.take().isEmpty)
        await bench.tell(.valueRead(AttributeHandle(wire: 12), .success([2])))
        #expect(bench.app.take() == ["value 2A37 [2] ok"])
    }

    @Test("A request about changed services fails once, before they are removed")
    func askedOfModified() async {
        let (peripheral, characteristic) = await bench.characteristic([.read, .write, .writeWithoutResponse])
        await bench.tell(.servicesDiscovered(.success([Fixture.battery])))
        _ = (bench.app.take(), bench.session.take())
        let handle = AttributeHandle(wire: 12), services = peripheral.services!
        for _ in 0..<20 { peripheral.readValue(for: characteristic) }
        peripheral.writeValue(Data([1]), for: characteristic, type: .withResponse)
        peripheral.writeValue(Data([2]), for: characteristic, type: .withoutResponse)
        for service in services { peripheral.discoverCharacteristics(nil, for: service) }
        peripheral.discoverServices(nil)
        await bench.tell(.valueRead(handle, .success([7])))
        _ = (bench.app.take(), bench.session.take())
        // Only a part of the service changed; its objects go as a whole.
        await bench.tell(.servicesModified(.of(18...19)))
        let failures = [String](repeating: "value 2A37 [7] CBError 2", count: 19)
        #expect(
            bench.app.take() == failures
                + ["written 2A37 CBError 2", "characteristics 180D CBError 2", #"modified ["180D"]"#]
        )
        // The host still answers what it knew of, and then what waited and is about other services.
        for number in 0..<16 { await bench.tell(.valueRead(handle, .success([UInt8(number)]))) }
        #expect(bench.app.take().isEmpty)
        #expect(
            bench.session.take() == [
                .peer(CentralBench.peer, .discoverCharacteristics(in: Fixture.battery.range, only: [])),
                .peer(CentralBench.peer, .discoverServices(only: [])),
            ]
        )
        await bench.tell(.characteristicsDiscovered(in: Fixture.battery.range, .success([])))
        await bench.tell(.servicesDiscovered(.success([Fixture.battery, Fixture.heartRate])))
        #expect(bench.app.take() == ["characteristics 180F ok", "services ok"])
        #expect(peripheral.services!.count == 2)
    }

    @Test("Requests about removed services made in that callback are answered too")
    func askedWhileGoing() async {
        let (peripheral, characteristic) = await bench.characteristic(.read)
        var isFirst = true
        bench.app.reactions = [
            (
                "value",
                {
                    if isFirst { peripheral.readValue(for: characteristic) }
                    isFirst = false
                }
            )
        ]
        peripheral.readValue(for: characteristic)
        _ = bench.session.take()
        await bench.tell(.servicesModified(.all))
        await bench.session.settle()
        let failure = "value 2A37 [] CBError 2"
        #expect(bench.app.take() == [failure, #"modified ["180D"]"#, failure])
        #expect(bench.session.take().isEmpty)
    }

    @Test("Forgotten objects are removed as if never discovered, and can be discovered again")
    func forgotten() async {
        let (peripheral, characteristic) = await bench.characteristic(.read)
        peripheral.readValue(for: characteristic)
        peripheral.make(.valid(.forgetDatabase))
        peripheral.readValue(for: characteristic)
        let handle = AttributeHandle(wire: 12)
        #expect(
            bench.session.take()
                == [PeerRequest.read(handle), .forgetDatabase, .read(handle)].map { .peer(CentralBench.peer, $0) }
        )
        await bench.tell(.valueRead(handle, .success([1])))
        await bench.tell(.databaseForgotten(.notConnected))
        #expect(peripheral.services?.count == 1)
        peripheral.make(.valid(.forgetDatabase))
        peripheral.readValue(for: characteristic)
        _ = bench.app.take()
        await bench.tell(.valueRead(handle, .success([2])))
        await bench.tell(.databaseForgotten(nil))
        #expect(bench.app.take() == ["value 2A37 [2] ok", "value 2A37 [2] CBError 2", #"modified ["180D"]"#])
        #expect(peripheral.services == nil)
        await bench.tell(.valueRead(handle, .success([3])))
        await bench.tell(.servicesDiscovered(.success([Fixture.heartRate])))
        #expect(bench.app.take() == ["services ok"])
        #expect(peripheral.services?.first?.characteristics == nil)
    }

    /// Has no method at all.
    final class Deaf: NSObject, CBPeripheralDelegate {}

    @Test("A delegate without the method for changed services is reported")
    func unheardModification() async {
        let peripheral = await bench.connect(), deaf = Deaf()
        peripheral.delegate = deaf
        await bench.tell(.servicesModified(.all))
        #expect(bench.lines.take().count == 1)
    }

    @Test("A service that replaces another is a new object")
    func replaced() async {
        let peripheral = await bench.connect()
        await bench.tell(.servicesDiscovered(.success([Fixture.heartRate])))
        let old = peripheral.services![0]
        let new = DiscoveredService(uuid: .short(0x181A), range: .of(12...15), isPrimary: true)
        await bench.tell(.servicesDiscovered(.success([new])))
        #expect(peripheral.services!.map(\.uuid.uuidString) == ["181A"])
        #expect(peripheral.services![0] !== old)
    }

    @Test("A request about a replaced service is answered, without reporting the replacement")
    func askedOfReplaced() async {
        let (peripheral, characteristic) = await bench.characteristic(.read)
        await bench.tell(.servicesDiscovered(.success([Fixture.battery])))
        _ = (bench.app.take(), bench.session.take())
        for service in peripheral.services! { peripheral.discoverCharacteristics(nil, for: service) }
        peripheral.readValue(for: characteristic)
        let new = DiscoveredService(uuid: .short(0x181A), range: .of(12...15), isPrimary: true)
        await bench.tell(.servicesDiscovered(.success([new, Fixture.battery])))
        #expect(bench.app.take() == ["characteristics 180D CBError 2", "value 2A37 [] CBError 2", "services ok"])
        await bench.tell(.characteristicsDiscovered(in: Fixture.heartRate.range, .success([])))
        await bench.tell(.characteristicsDiscovered(in: Fixture.battery.range, .success([])))
        #expect(bench.app.take() == ["characteristics 180F ok"])
    }

    @Test("A request about a replaced characteristic is answered")
    func askedOfReplacedCharacteristic() async {
        let (peripheral, old) = await bench.characteristic([.read, .notify])
        await bench.tell(.subscriptionChanged(AttributeHandle(wire: 12), .notifications, nil))
        peripheral.readValue(for: old)
        peripheral.readRSSI()
        _ = (bench.app.take(), bench.session.take())
        let new = Fixture.characteristic(0x2A38, .read, value: 13)
        await bench.tell(.characteristicsDiscovered(in: Fixture.heartRate.range, .success([new])))
        #expect(bench.app.take() == ["value 2A37 [] CBError 2", "characteristics 180D ok"])
        #expect(peripheral.services![0].characteristics!.map(\.uuid.uuidString) == ["2A38"])
        #expect(!old.isNotifying)
        await bench.tell(.valueRead(AttributeHandle(wire: 12), .success([1])))
        await bench.tell(.rssiRead(.success(RSSI(dBm: -50))))
        #expect(bench.app.take() == ["rssi -50 ok"])
    }

    @Test("After a new connection everything is discovered again")
    func reconnection() async {
        let (peripheral, old) = await bench.characteristic(.read)
        await bench.session.tell(.disconnected(CentralBench.peer, nil, isReconnecting: false))
        bench.manager.connect(peripheral)
        await bench.session.tell(.connected(CentralBench.peer, LinkParameters(mtu: 23)))
        #expect(peripheral.services == nil)
        peripheral.readValue(for: old)
        await bench.session.settle()
        #expect(bench.app.take().last == "value 2A37 [] CBError 2")
    }
}
