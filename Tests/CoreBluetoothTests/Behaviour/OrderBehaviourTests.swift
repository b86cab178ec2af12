import BLEHost
import BLESimulation
import Testing

@testable import CoreBluetooth

@Suite("Order of an app's requests")
struct OrderBehaviourTests {
    private func local(_ uuid: String, _ properties: CBCharacteristicProperties) -> CBMutableCharacteristic {
        CBMutableCharacteristic(
            type: CBUUID(string: uuid),
            properties: properties,
            value: properties == .read ? Data([7]) : nil,
            permissions: properties == .read ? .readable : [.readable, .writeable]
        )
    }

    @Test(
        "A subscription is sent before a later write without response, however many packets it needs",
        .behaviour("4.4.5"),
        arguments: UInt64(0)..<16
    )
    func subscriptionBeforeValue(seed: UInt64) async throws {
        let bench = WorldBench(seed: seed, loss: 0.2)
        let talking = local("FFF1", [.writeWithoutResponse, .notify])
        await bench.publish(talking)
        let peripheral = try #require(await bench.find())
        _ = bench.serverApp.take()
        bench.app.reactions = [
            ("connected", { peripheral.discoverServices([CBUUID(string: "FFF0")]) }),
            (
                "services",
                {
                    guard let service = peripheral.services?.first else { return }
                    peripheral.discoverCharacteristics([talking.uuid], for: service)
                }
            ),
            (
                "characteristics",
                {
                    guard let found = peripheral.characteristic("FFF1") else { return }
                    peripheral.setNotifyValue(true, for: found)
                    peripheral.writeValue(Data([1]), for: found, type: .withoutResponse)
                }
            ),
        ]
        bench.central.connect(peripheral)
        await bench.wait(20)
        #expect(bench.serverApp.take() == ["subscribed FFF1 1 495", "write 0:[1]"])
        #expect(bench.app.take().contains("notifying true ok"))
    }

    @Test(
        "Immediate failures, RSSI and channels are answered in order with all other requests",
        .behaviour("4.4.1"),
        arguments: UInt64(0)..<16
    )
    func oneOrder(seed: UInt64) async throws {
        let bench = WorldBench(seed: seed, loss: 0.2)
        let sending = local("FFF2", .notify), stranger = local("FFF3", .read)
        let peripheral = try #require(await bench.connect(local("FFF1", .read), sending))
        bench.server.publishL2CAPChannel(withEncryption: false)
        await bench.wait()
        let readable = try #require(peripheral.characteristic("FFF1"))
        let notifying = try #require(peripheral.characteristic("FFF2"))
        var expected: [String] = []
        for number in 0..<10 {
            peripheral.readValue(for: readable)
            peripheral.setNotifyValue(true, for: readable)
            peripheral.readRSSI()
            peripheral.setNotifyValue(number.isMultiple(of: 2), for: notifying)
            peripheral.openL2CAPChannel(number == 5 ? bench.serverApp.psm : 0)
            peripheral.readValue(for: notifying)
            peripheral.discoverDescriptors(for: stranger)
            peripheral.startChannelSoundingSession(CBChannelSoundingSessionConfiguration(role: .initiator))
            peripheral.writeValue(Data([1]), for: readable, type: .withResponse)
            expected += [
                "value FFF1 [7] ok", "notifying false CBATTError 6", "rssi",
                "notifying \(number.isMultiple(of: 2)) ok", "channel", "value FFF2 [] CBATTError 2",
                "descriptors FFF3 CBError 2", "sounding CBError 13", "written FFF1 CBATTError 3",
            ]
        }
        await bench.wait(30)
        let calls = bench.app.take()
        let kinds = calls.map { $0.hasPrefix("rssi") ? "rssi" : $0.hasPrefix("channel") ? "channel" : $0 }
        #expect(kinds == expected)
        #expect(bench.app.channels.count == 1)
    }

    @Test(
        "An immediate failure about changed services is reported before the change",
        .behaviour("4.4.1", "2.2.2"),
        arguments: UInt64(0)..<16
    )
    func changedServices(seed: UInt64) async throws {
        let bench = WorldBench(seed: seed)
        let changing = CBMutableService(type: CBUUID(string: "FFE0"), primary: true)
        changing.characteristics = [local("FFE1", .read)]
        let peripheral = try #require(await bench.connect(.dynamic("FFF1", .read)))
        bench.server.add(changing)
        await bench.wait()
        peripheral.discoverServices(nil)
        await bench.wait()
        let service = try #require(peripheral.services?.last)
        peripheral.discoverCharacteristics(nil, for: service)
        await bench.wait()
        _ = bench.app.take()
        let gone = try #require(service.characteristics?.first)
        peripheral.readValue(for: try #require(peripheral.characteristic("FFF1")))
        peripheral.setNotifyValue(true, for: gone)
        peripheral.readValue(for: gone)
        await bench.wait()
        bench.server.remove(changing)
        await bench.wait()
        let calls = ["notifying false CBATTError 6", "value FFE1 [] CBError 2", #"modified ["FFE0"]"#]
        #expect(bench.app.take() == calls)
        bench.server.respond(to: try #require(bench.serverApp.reads.first), withResult: .success)
        await bench.wait()
        #expect(bench.app.take() == ["value FFF1 [] ok"])
    }
}
