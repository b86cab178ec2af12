import BLESimulation
import Testing

@testable import CoreBluetooth

@Suite("A peripheral manager of a relaunched app")
struct PeripheralRestorationTests {
    private let launches = Launches()
    private let first = RestoringApp()

    /// A world in which `first` serves on the sensor: one service that includes another.
    private func bench(seed: UInt64 = 1) async throws -> WorldBench {
        let bench = WorldBench(seed: seed)
        bench.lines.collect(bench.sensor) { first.start(peripherals: ["server"]) }
        await bench.wait()
        let server = try #require(first.server)
        let part = CBMutableService(type: CBUUID(string: "FFF1"), primary: false)
        let service = CBMutableService(type: CBUUID(string: "FFF0"), primary: true)
        let fixed = CBMutableCharacteristic(
            type: CBUUID(string: "2A29"),
            properties: .read,
            value: Data("Maker".utf8),
            permissions: .readable
        )
        fixed.descriptors = [
            CBMutableDescriptor(type: CBUUID(string: "2901"), value: "Who"),
            CBMutableDescriptor(type: CBUUID(string: "2904"), value: Data([25, 0, 0, 0x27, 1, 0, 0])),
        ]
        service.characteristics = [CBMutableCharacteristic.dynamic(), fixed]
        service.includedServices = [part]
        server.add(part)
        server.add(service)
        server.startAdvertising([
            CBAdvertisementDataLocalNameKey: "Sensor", CBAdvertisementDataServiceUUIDsKey: [service.uuid],
        ])
        await bench.wait()
        _ = first.take()
        return bench
    }

    /// Connects the phone and subscribes.
    private func subscribe(_ bench: WorldBench) async throws -> CBPeripheral {
        let peripheral = try #require(await bench.find())
        bench.central.connect(peripheral)
        await bench.explore(peripheral)
        peripheral.setNotifyValue(true, for: try #require(peripheral.characteristic("2A37")))
        await bench.wait()
        _ = (first.take(), bench.app.take())
        return peripheral
    }

    @Test(
        "Services, subscribers and the advertisement are restored, and a central's read launches the app",
        .behaviour("2.3.13", "4.9.4"),
        arguments: 1...16
    )
    func served(seed: UInt64) async throws {
        let bench = try await bench(seed: seed), peripheral = try await subscribe(bench)
        launches.follow(bench.sensor)
        bench.sensor.endApps(.crash)
        peripheral.readValue(for: try #require(peripheral.characteristic("2A37")))
        await bench.wait()
        #expect(launches.launches == [.init(peripherals: ["server"])])
        let app = try #require(launches.app)
        #expect(
            app.take() == ["restore [\"kCBRestoredAdvertisement\", \"kCBRestoredServices\"]", "state 5", "read 2A37"]
        )
        #expect(bench.app.take() == ["value 2A37 [7] ok"])
        let server = try #require(app.server)
        #expect(server.isAdvertising)
        let advertisement = app.restored?[CBPeripheralManagerRestoredStateAdvertisementDataKey] as? [String: Any]
        #expect(advertisement?[CBAdvertisementDataLocalNameKey] as? String == "Sensor")
        #expect(advertisement?[CBAdvertisementDataServiceUUIDsKey] as? [Data] == [Data([0xFF, 0xF0])])
        #expect(app.services.map(\.uuid.uuidString) == ["FFF1", "FFF0"])
        #expect(app.services.map(\.isPrimary) == [false, true])
        let service = app.services[1]
        #expect(service.includedServices?.first === app.services[0])
        let values = try #require(service.characteristics as? [CBMutableCharacteristic])
        #expect(values.map(\.properties) == [[.read, .write, .notify], .read])
        #expect(values.map(\.permissions) == [[.readable, .writeable], .readable])
        #expect(values.map(\.value) == [nil, Data("Maker".utf8)])
        #expect(values[1].descriptors?.map { $0.value as? String } == ["Who", nil])
        #expect(values[1].descriptors?.map { $0.value as? Data } == [nil, Data([25, 0, 0, 0x27, 1, 0, 0])])
        let central = try #require(values[0].subscribedCentrals?.first)
        #expect(server.updateValue(Data([8]), for: values[0], onSubscribedCentrals: [central]))
        await bench.wait()
        #expect(bench.app.take() == ["value 2A37 [8] ok"])
        server.stopAdvertising()
        server.remove(service)
        let more = CBMutableService(type: CBUUID(string: "FFF2"), primary: true)
        more.characteristics = [CBMutableCharacteristic.dynamic("2A38")]
        server.add(more)
        await bench.wait()
        #expect(app.take() == ["added FFF2 ok"])
        #expect(bench.app.take().contains("modified [\"FFF0\"]"))
        #expect(first.take().isEmpty)
    }

    @Test("Missed changes of subscribers arrive in order", .behaviour("4.9.4"), arguments: 1...16)
    func subscribers(seed: UInt64) async throws {
        let bench = try await bench(seed: seed), peripheral = try await subscribe(bench)
        let value = try #require(peripheral.characteristic("2A37"))
        bench.sensor.endApps(.terminatedBySystem)
        peripheral.setNotifyValue(false, for: value)
        await bench.wait()
        peripheral.setNotifyValue(true, for: value)
        await bench.wait()
        let app = RestoringApp()
        bench.lines.collect(bench.sensor) { app.start(peripherals: ["server"]) }
        await bench.wait()
        #expect(app.take().dropFirst() == ["state 5", "unsubscribed 2A37", "subscribed 2A37"])
        let restored = app.services[1].characteristics?.first as? CBMutableCharacteristic
        #expect(restored?.subscribedCentrals?.count == 1)
    }

    @Test("A central's read is refused while the app cannot be launched")
    func refused() async throws {
        let bench = try await bench(), peripheral = try await subscribe(bench)
        bench.sensor.endApps(.crash)
        peripheral.readValue(for: try #require(peripheral.characteristic("2A37")))
        await bench.wait()
        #expect(bench.app.take() == ["value 2A37 [] CBATTError 14"])
    }

    @Test("A central's read that the app left unanswered is refused", arguments: 1...16)
    func left(seed: UInt64) async throws {
        let bench = WorldBench(seed: seed), server = bench.anotherServer()
        _ = server
        let peripheral = try #require(await bench.connect(.dynamic()))
        peripheral.readValue(for: try #require(peripheral.characteristic("2A37")))
        await bench.wait()
        #expect(bench.serverApp.reads.count == 1)
        bench.sensor.endApps(.crash)
        await bench.wait(5)
        #expect(bench.app.take().contains { $0.hasPrefix("value 2A37 [] CBATTError") || $0.hasPrefix("modified") })
    }

    @Test(
        "An app that is launched while Bluetooth is off advertises again when it is on",
        .behaviour("2.3.1", "4.9.4"),
        arguments: 1...16
    )
    func switchedOff(seed: UInt64) async throws {
        let bench = try await bench(seed: seed)
        bench.sensor.switchBluetoothOff()
        await bench.wait()
        bench.sensor.endApps(.crash)
        let app = RestoringApp()
        bench.lines.collect(bench.sensor) { app.start(peripherals: ["server"]) }
        await bench.wait()
        #expect(app.take().dropFirst() == ["state 4"])
        let server = try #require(app.server)
        #expect(!server.isAdvertising)
        bench.sensor.switchBluetoothOn()
        await bench.wait()
        #expect(await bench.find() != nil)
        #expect(server.isAdvertising)
        #expect(app.take() == ["state 5"])
        server.stopAdvertising()
        #expect(!server.isAdvertising)
    }

    @Test("New services do not collide with the identifiers of restored ones", .behaviour("4.9.4"))
    func republished() async throws {
        let bench = try await bench()
        bench.sensor.endApps(.crash)
        let app = RestoringApp()
        bench.lines.collect(bench.sensor) { app.start(peripherals: ["server"]) }
        await bench.wait()
        _ = app.take()
        let server = try #require(app.server)
        for number in 0..<4 {
            let service = CBMutableService(type: CBUUID(string: "FFE\(number)"), primary: true)
            service.characteristics = [CBMutableCharacteristic.dynamic("2A3\(number)")]
            server.add(service)
        }
        await bench.wait()
        #expect(app.take() == (0..<4).map { "added FFE\($0) ok" })
        server.removeAllServices()
        let peripheral = try #require(await bench.find())
        bench.central.connect(peripheral)
        await bench.wait(5)
        peripheral.discoverServices(nil)
        await bench.wait()
        #expect(peripheral.services?.isEmpty == true)
    }
}
