import BLESimulation
import Testing

@testable import CoreBluetooth

@Suite("Apps' view of a peripheral's objects")
struct ObjectBehaviourTests {
    let bench = WorldBench()

    @Test(
        "Changed services are reported, become invalid with their contents, and must be discovered again",
        .behaviour("2.2.2")
    )
    func modified() async throws {
        let peripheral = try #require(await bench.connect(.dynamic("FFF1", .read)))
        let service = CBMutableService(type: CBUUID(string: "FFE0"), primary: true)
        service.characteristics = [CBMutableCharacteristic.dynamic("FFE1", .read)]
        bench.server.add(service)
        await bench.wait()
        peripheral.discoverServices(nil)
        await bench.wait()
        let found = try #require(peripheral.services?.first { $0.uuid == service.uuid })
        peripheral.discoverCharacteristics(nil, for: found)
        await bench.wait()
        let characteristic = try #require(found.characteristics?.first)
        _ = bench.app.take()
        bench.server.remove(service)
        await bench.wait()
        #expect(bench.app.take() == [#"modified ["FFE0"]"#])
        #expect(bench.app.invalidated.last === found)
        #expect(peripheral.services?.map(\.uuid.uuidString) == ["FFF0"])
        peripheral.readValue(for: characteristic)
        await bench.wait()
        #expect(bench.app.take() == ["value FFE1 [] CBError 2"])
    }

    @Test("A connected peer no longer offers withdrawn services", .behaviour("1.2.7"))
    func withdrawn() async throws {
        let peripheral = try #require(await bench.connect(.dynamic())), other = bench.anotherCentral()
        let service = CBMutableService(type: CBUUID(string: "FFE0"), primary: true)
        bench.server.add(service)
        await bench.wait()
        peripheral.discoverServices(nil)
        await bench.wait()
        let managers = [bench.central, other.manager]
        func count(_ service: String) -> [Int] {
            managers.map { $0.retrieveConnectedPeripherals(withServices: [CBUUID(string: service)]).count }
        }
        #expect(count("FFE0") == [1, 1])
        var heard: [Int] = []
        bench.app.reactions = [("modified", { heard = count("FFE0") })]
        bench.server.remove(service)
        await bench.wait()
        #expect(heard.first == 0)
        #expect(count("FFE0") == [0, 0])
        #expect(count("FFF0") == [1, 1])
    }

    @Test("An app without a method for changed services gets a warning", .behaviour("2.2.3"))
    func unheardModification() async throws {
        final class Careless: NSObject, CBPeripheralDelegate {}
        let peripheral = try #require(await bench.connect(.dynamic("FFF1", .read))), delegate = Careless()
        peripheral.delegate = delegate
        bench.server.add(CBMutableService(type: CBUUID(string: "FFE0"), primary: true))
        await bench.wait()
        let lines = bench.lines.take()
        #expect(lines.count == 1)
        #expect(lines[0].hasPrefix("WARNING: The services of <CBPeripheral: "))
    }

    @Test("A service does not retain its peripheral, and a local service has none", .behaviour("1.7.1", "2.3.3"))
    func weakPeripheral() async throws {
        var peripheral = await bench.connect(.dynamic("FFF1", .read))
        let service = try #require(peripheral?.services?.first)
        #expect(service.peripheral === peripheral)
        #expect(service.peripheral != nil)
        bench.app.forget()
        peripheral = nil
        #expect(service.peripheral == nil)
        #expect(bench.serverApp.added.map(\.peripheral) == [nil])
    }

    @Test("Requests for another peripheral's attributes fail", .behaviour("4.8.8"))
    func foreign() async throws {
        let own = CBMutableCharacteristic.dynamic("FFF1", [.read, .write, .notify])
        let peripheral = try #require(await bench.connect(own))
        peripheral.readValue(for: own)
        peripheral.writeValue(Data([1]), for: own, type: .withResponse)
        peripheral.setNotifyValue(true, for: own)
        await bench.wait()
        #expect(
            bench.app.take() == ["value FFF1 [] CBError 2", "written FFF1 CBError 2", "notifying false CBError 2"]
        )
    }

    @Test("Channel sounding fails as not supported", .behaviour("1.6.19"))
    func channelSounding() async throws {
        let peripheral = try #require(await bench.connect(.dynamic("FFF1", .read)))
        peripheral.startChannelSoundingSession(CBChannelSoundingSessionConfiguration(role: .initiator))
        peripheral.cancelChannelSoundingSession()
        await bench.wait()
        #expect(bench.app.take() == ["sounding CBError 13"])
    }
}
