import BLESimulation
import Testing

@testable import CoreBluetooth

@Suite("Apps' view of a peripheral manager's services")
struct ServerBehaviourTests {
    let bench = WorldBench()

    private func connect(_ characteristic: CBMutableCharacteristic) async throws -> (CBPeripheral, CBCharacteristic) {
        let peripheral = try #require(await bench.connect(characteristic))
        return (peripheral, try #require(peripheral.services?.first?.characteristics?.first))
    }

    private func subscribe(_ characteristic: CBMutableCharacteristic) async throws -> (CBPeripheral, CBCharacteristic) {
        let found = try await connect(characteristic)
        found.0.setNotifyValue(true, for: found.1)
        await bench.wait()
        _ = (bench.app.take(), bench.serverApp.take())
        return found
    }

    @Test(
        "Adding a service is confirmed once with the added object, which is then immutable",
        .behaviour("1.3.6", "1.3.8", "2.3.3")
    )
    func adding() async {
        let service = CBMutableService(type: CBUUID(string: "FFE0"), primary: true)
        let characteristic = CBMutableCharacteristic.dynamic()
        service.characteristics = [characteristic]
        await bench.wait()
        _ = bench.serverApp.take()
        bench.server.add(service)
        await bench.wait()
        #expect(bench.serverApp.take() == ["added FFE0 ok"])
        #expect(bench.serverApp.added.first === service)
        service.characteristics = nil
        service.includedServices = []
        characteristic.properties = .read
        characteristic.permissions = []
        characteristic.descriptors = []
        #expect(bench.lines.take().count == 5)
        #expect(service.characteristics?.first === characteristic)
        #expect((characteristic.properties, characteristic.descriptors == nil) == ([.read, .write, .notify], true))
        bench.server.remove(service)
        service.characteristics = nil
        #expect(bench.lines.take().isEmpty)
        #expect(service.characteristics == nil)
    }

    @Test("A service that another includes is not removed", .behaviour("1.3.9", "1.3.10"))
    func removing() async throws {
        let part = CBMutableService(type: CBUUID(string: "FFE0"), primary: true)
        let whole = CBMutableService(type: CBUUID(string: "FFE1"), primary: true)
        whole.includedServices = [part]
        let (peripheral, _) = try await connect(.dynamic())
        bench.server.add(part)
        bench.server.add(whole)
        bench.server.remove(part)
        #expect(bench.lines.take().count == 1)
        await bench.wait()
        peripheral.discoverServices(nil)
        await bench.wait()
        #expect(peripheral.services?.map(\.uuid.uuidString) == ["FFF0", "FFE0", "FFE1"])
        bench.server.remove(whole)
        bench.server.remove(part)
        await bench.wait()
        #expect(peripheral.services?.map(\.uuid.uuidString) == ["FFF0"])
        bench.server.removeAllServices()
        await bench.wait()
        #expect(peripheral.services?.isEmpty == true)
        #expect(bench.app.take().last == #"modified ["FFF0"]"#)
    }

    @Test(
        "Only the host's own services are refused, and not the others that Apple reserves",
        .behaviour("4.6.1"),
        arguments: [
            ("1800", "CBError 8"), ("1801", "CBError 8"), ("00001801-0000-1000-8000-00805F9B34FB", "CBError 8"),
            ("180F", "ok"), ("1812", "ok"), ("180A", "ok"),
        ]
    )
    func reserved(type: String, outcome: String) async {
        await bench.wait()
        _ = bench.serverApp.take()
        let service = CBMutableService(type: CBUUID(string: type), primary: true)
        bench.server.add(service)
        await bench.wait()
        #expect(bench.serverApp.take() == ["added \(service.uuid.uuidString) \(outcome)"])
    }

    @Test("The broadcast and extended properties are refused", .behaviour("1.7.9"), arguments: [0x01, 0x80] as [UInt])
    func refusedProperties(bits: UInt) async {
        await bench.publish(.dynamic("FFF1", CBCharacteristicProperties(rawValue: bits | 0x02)))
        await bench.wait()
        #expect(bench.serverApp.take().contains("added FFF0 CBError 1"))
    }

    @Test("A fixed value is read without the app", .behaviour("1.7.4"), arguments: [0, 1, 22, 512])
    func fixed(count: Int) async throws {
        let value = Data(repeating: 5, count: count)
        let (peripheral, found) = try await connect(
            CBMutableCharacteristic(
                type: CBUUID(string: "FFF1"),
                properties: .read,
                value: value,
                permissions: .readable
            )
        )
        peripheral.readValue(for: found)
        await bench.wait()
        #expect(found.value == value)
        #expect(bench.serverApp.take().isEmpty)
    }

    @Test(
        "A dynamic value is requested from the app each time, and its value property is ignored",
        .behaviour("1.7.5", "1.3.12", "1.8.1", "2.3.5")
    )
    func dynamic() async throws {
        let local = CBMutableCharacteristic.dynamic()
        let (peripheral, found) = try await connect(local)
        local.value = Data([1])
        peripheral.readValue(for: found)
        await bench.wait()
        let request = bench.serverApp.reads[0]
        #expect((request.offset, request.value) == (0, nil))
        #expect(request.characteristic === local)
        request.value = Data([2])
        bench.server.respond(to: request, withResult: .success)
        await bench.wait()
        #expect(found.value == Data([2]))
        peripheral.writeValue(Data([3]), for: found, type: .withResponse)
        await bench.wait()
        #expect(bench.serverApp.writes[0].map(\.value) == [Data([3])])
        #expect(bench.serverApp.writes[0][0].central === request.central)
        #expect(local.value == Data([1]))
    }

    @Test(
        "A long value is requested in parts, and ends where the app refuses the offset",
        .behaviour("2.3.5", "2.3.6")
    )
    func longRead() async throws {
        let bench = WorldBench(phoneMTU: 100), value = Data((0..<250).map { UInt8($0) })
        let peripheral = try #require(await bench.connect(.dynamic()))
        let found = try #require(peripheral.characteristic("2A37"))
        peripheral.readValue(for: found)
        await bench.wait()
        for (index, offset) in [0, 99, 198].enumerated() {
            let request = try #require(bench.serverApp.reads.last)
            #expect((bench.serverApp.reads.count, request.offset, request.value) == (index + 1, offset, nil))
            #expect(bench.app.take().isEmpty)
            request.value = value[offset...]
            bench.server.respond(to: request, withResult: .success)
            await bench.wait()
        }
        #expect(bench.serverApp.reads.count == 3)
        #expect(found.value == value)
        #expect(bench.app.take() == ["value 2A37 \([UInt8](value)) ok"])
        peripheral.readValue(for: found)
        await bench.wait()
        bench.serverApp.reads[3].value = value
        bench.server.respond(to: bench.serverApp.reads[3], withResult: .success)
        await bench.wait()
        #expect(bench.serverApp.reads[4].offset == 99)
        bench.server.respond(to: bench.serverApp.reads[4], withResult: .invalidOffset)
        await bench.wait()
        #expect(bench.app.take() == ["value 2A37 \([UInt8](value.prefix(99))) ok"])
    }

    @Test("A request is answered once", .behaviour("1.3.11"))
    func answeredOnce() async throws {
        let (peripheral, found) = try await connect(.dynamic())
        peripheral.writeValue(Data([3]), for: found, type: .withResponse)
        await bench.wait()
        let request = bench.serverApp.writes[0][0]
        bench.server.respond(to: request, withResult: .success)
        #expect(bench.lines.take().isEmpty)
        bench.server.respond(to: request, withResult: .writeNotPermitted)
        #expect(bench.lines.take().count == 1)
        await bench.wait()
        #expect(bench.app.take() == ["written 2A37 ok"])
    }

    @Test("A group of writes has one response, given with any of its requests", .behaviour("2.3.8", "2.3.9"))
    func group() async throws {
        let (peripheral, found) = try await connect(.dynamic())
        for result in [CBATTError.Code.success, .invalidAttributeValueLength, .init(rawValue: 0x80)!] {
            peripheral.writeValue(Data(repeating: 1, count: 512), for: found, type: .withResponse)
            await bench.wait()
            let group = try #require(bench.serverApp.writes.last)
            let request = try #require(result == .success ? group.first : group.last)
            bench.server.respond(to: request, withResult: result)
            await bench.wait()
            let outcome = result == .success ? "ok" : "CBATTError \(result.rawValue)"
            #expect(bench.app.take() == ["written 2A37 \(outcome)"])
        }
    }

    @Test(
        "A request that is not answered within 30 seconds ends the link, as if the peer had not responded",
        .behaviour("4.6.2"),
        arguments: UInt64(0)..<16
    )
    func unanswered(seed: UInt64) async throws {
        let bench = WorldBench(seed: seed), timeout = "CBError \(CBError.Code.connectionTimeout.rawValue)"
        let peripheral = try #require(await bench.connect(.dynamic()))
        let found = try #require(peripheral.characteristic("2A37"))
        bench.server.publishL2CAPChannel(withEncryption: false)
        await bench.wait()
        peripheral.openL2CAPChannel(bench.serverApp.psm)
        await bench.wait()
        let channel = try #require(bench.app.channels.first)
        channel.inputStream.open()
        _ = bench.app.take()
        peripheral.readValue(for: found)
        peripheral.writeValue(Data([1]), for: found, type: .withResponse)
        await bench.wait(28)
        #expect(bench.app.take().isEmpty)
        await bench.wait(5)
        #expect(
            bench.app.take() == ["value 2A37 [] \(timeout)", "written 2A37 \(timeout)", "disconnected \(timeout) 0"]
        )
        #expect((channel.inputStream.streamError as? CBError)?.code == .connectionTimeout)
    }

    @Test("Requests are refused if the delegate lacks the methods for them", .behaviour("2.3.14"))
    func noMethods() async throws {
        final class Deaf: NSObject, CBPeripheralManagerDelegate {
            func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {}
        }
        let (peripheral, found) = try await connect(.dynamic()), deaf = Deaf()
        bench.server.delegate = deaf
        peripheral.readValue(for: found)
        peripheral.writeValue(Data([1]), for: found, type: .withResponse)
        await bench.wait()
        #expect(bench.app.take() == ["value 2A37 [] CBATTError 6", "written 2A37 CBATTError 6"])
    }

    @Test(
        "An update goes to the given subscribers, truncated to fit, and does not change the value",
        .behaviour("1.3.13", "1.3.14", "1.3.16", "1.3.18")
    )
    func updates() async throws {
        let local = CBMutableCharacteristic.dynamic()
        await bench.publish(local)
        #expect(bench.server.updateValue(Data([9]), for: local, onSubscribedCentrals: nil))
        var seen: [CentralApp] = []
        for name in ["one", "two"] {
            let client = bench.anotherCentral(on: bench.world.machine(name, at: .init(x: 1)))
            await bench.wait()
            client.manager.scanForPeripherals(withServices: [CBUUID(string: "FFF0")])
            await bench.wait()
            client.manager.stopScan()
            let peripheral = try #require(client.app.peripherals.first)
            client.manager.connect(peripheral)
            await bench.explore(peripheral)
            peripheral.setNotifyValue(true, for: try #require(peripheral.characteristic("2A37")))
            await bench.wait()
            _ = client.app.take()
            seen.append(client.app)
            withExtendedLifetime(client.manager) {}
            managers.append(client.manager)
        }
        let subscribers = try #require(local.subscribedCentrals)
        #expect(subscribers.count == 2)
        #expect(bench.server.updateValue(Data([1]), for: local, onSubscribedCentrals: nil))
        #expect(bench.server.updateValue(Data([2]), for: local, onSubscribedCentrals: [subscribers[1]]))
        #expect(bench.server.updateValue(Data([3]), for: local, onSubscribedCentrals: []))
        await bench.wait()
        #expect(seen.map { $0.take() } == [["value 2A37 [1] ok"], ["value 2A37 [1] ok", "value 2A37 [2] ok"]])
        if let leaving = seen[0].peripherals.first { managers.first?.cancelPeripheralConnection(leaving) }
        await bench.wait()
        #expect(local.subscribedCentrals?.count == 1)
        #expect(bench.server.updateValue(Data([4]), for: local, onSubscribedCentrals: [subscribers[0]]))
        await bench.wait()
        #expect(seen[1].take().isEmpty)
        #expect(subscribers[1].maximumUpdateValueLength == 495)
        #expect(bench.server.updateValue(Data(repeating: 5, count: 600), for: local, onSubscribedCentrals: nil))
        await bench.wait()
        let last = seen[1].peripherals.first?.characteristic("2A37")?.value
        #expect(last == Data(repeating: 5, count: 512))
        #expect(local.value == nil)
    }

    /// The managers of clients, which their app does not keep.
    private let held = Held()
    private var managers: [CBCentralManager] {
        get { held.managers }
        nonmutating set { held.managers = newValue }
    }

    private final class Held {
        var managers: [CBCentralManager] = []
    }

    @Test(
        "When the queue is full nothing more is sent, and the app is always told once there is space",
        .behaviour("1.3.15", "2.3.11"),
        arguments: UInt64(0)..<16
    )
    func backPressure(seed: UInt64) async throws {
        let bench = WorldBench(seed: seed, loss: 0.2), local = CBMutableCharacteristic.dynamic()
        let peripheral = try #require(await bench.connect(local))
        peripheral.setNotifyValue(true, for: try #require(peripheral.characteristic("2A37")))
        await bench.wait()
        _ = (bench.app.take(), bench.serverApp.take())
        var sent = 0, waits = 0
        for _ in 0..<200 where sent < 200 {
            while sent < 200, bench.server.updateValue(Data([UInt8(sent)]), for: local, onSubscribedCentrals: nil) {
                sent += 1
            }
            guard sent < 200 else { break }
            waits += 1
            for _ in 0..<100 where !bench.serverApp.take().contains("ready") {
                await bench.world.advance(by: .milliseconds(50))
            }
        }
        await bench.wait(10)
        #expect((sent, waits > 2) == (200, true))
        #expect(bench.app.take() == (0..<200).map { "value 2A37 [\($0)] ok" })
    }

    @Test(
        "Free space is reported even if the subscribers leave",
        .behaviour("2.3.11", "2.3.4"),
        arguments: [false, true]
    )
    func readyWithoutSubscribers(isLost: Bool) async throws {
        let local = CBMutableCharacteristic.dynamic("2A37", .indicate)
        let (peripheral, _) = try await subscribe(local)
        while bench.server.updateValue(Data([1]), for: local, onSubscribedCentrals: nil) {}
        if isLost {
            bench.world.separate(bench.phone, bench.sensor)
        } else {
            bench.central.cancelPeripheralConnection(peripheral)
        }
        await bench.wait(10)
        #expect(Set(bench.serverApp.take()) == ["ready", "unsubscribed 2A37 0"])
        #expect(bench.server.updateValue(Data([1]), for: local, onSubscribedCentrals: nil))
    }

    @Test("An update sent before the response to a write arrives", .behaviour("4.6.3"))
    func updateBeforeAnswer() async throws {
        let local = CBMutableCharacteristic.dynamic()
        let (peripheral, found) = try await subscribe(local)
        peripheral.writeValue(Data([1]), for: found, type: .withResponse)
        await bench.wait()
        #expect(bench.server.updateValue(Data([2]), for: local, onSubscribedCentrals: nil))
        bench.server.respond(to: bench.serverApp.writes[0][0], withResult: .success)
        await bench.wait()
        #expect(bench.app.take() == ["value 2A37 [2] ok", "written 2A37 ok"])
    }

    @Test(
        "Protected properties look plain to a peer, and it can subscribe once paired, without involving the app",
        .behaviour("4.4.3", "4.6.5", "1.7.10"),
        arguments: [
            (.notifyEncryptionRequired, .notify), (.indicateEncryptionRequired, .indicate),
        ] as [(CBCharacteristicProperties, CBCharacteristicProperties)]
    )
    func trusted(property: CBCharacteristicProperties, seen: CBCharacteristicProperties) async throws {
        let local = CBMutableCharacteristic(
            type: CBUUID(string: "FFF1"),
            properties: [.read, property],
            value: nil,
            permissions: .readEncryptionRequired
        )
        let (peripheral, found) = try await connect(local)
        #expect(found.properties == [.read, seen])
        #expect(local.properties == [.read, property])
        peripheral.readValue(for: found)
        peripheral.setNotifyValue(true, for: found)
        await bench.wait()
        let request = try #require(bench.serverApp.reads.first)
        request.value = Data([7])
        bench.server.respond(to: request, withResult: .success)
        await bench.wait()
        #expect(bench.app.take() == ["value FFF1 [7] ok", "notifying true ok"])
        #expect(local.subscribedCentrals?.count == 1)
    }

    @Test("The desired latency changes the connection interval", .behaviour("1.3.5"))
    func latency() async throws {
        let log = PacketLog(bench.world), local = CBMutableCharacteristic.dynamic()
        _ = try await subscribe(local)
        let central = try #require(local.subscribedCentrals?.first)
        var intervals: [Duration] = []
        for latency in [CBPeripheralManagerConnectionLatency.high, .medium, .low] {
            bench.server.setDesiredConnectionLatency(latency, for: central)
            await bench.wait(5)
            intervals.append(try #require(log.intervals(of: "phone").last))
        }
        #expect(intervals == intervals.sorted(by: >))
        #expect(Set(intervals).count == 3)
        #expect(bench.lines.take().isEmpty)
    }
}
