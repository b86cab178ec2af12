import BLESimulation
import CoreBluetooth
import Testing

@Suite("Test controls of a world", .timeLimit(.minutes(30)))
struct KnobTests {
    let bench = KnobBench()

    @Test("Packets have the machine's maximum size", arguments: [23, 185, 247, 517])
    func mtu(octets: Int) async throws {
        let bench = KnobBench(mtu: octets)
        bench.world.place(.lamp)
        let peripheral = try #require(await bench.connect())
        #expect(peripheral.maximumWriteValueLength(for: .withoutResponse) == min(octets - 3, 495))
        let other = KnobBench()
        var lamp = SimulatedPeripheral.lamp
        lamp.mtu = octets
        other.world.place(lamp)
        let same = try #require(await other.connect())
        #expect(same.maximumWriteValueLength(for: .withoutResponse) == min(octets - 3, 495))
    }

    /// How long a phone takes for each of eight values, if the link has been at rest for 3.4 seconds: that is between
    /// two meetings that a peripheral attends who comes once in a second.
    private func timesOfReads(interval: Duration?, latency: Int = 0) async throws -> [Duration] {
        let bench = KnobBench(connectionInterval: interval, peripheralLatency: latency)
        let lamp = bench.world.place(.lamp)
        lamp.onRead("FFE1") { .value([UInt8(truncatingIfNeeded: $0.count)]) }
        let peripheral = try #require(await bench.find())
        bench.central.connect(peripheral)
        #expect(await bench.world.advance(atMost: .seconds(60)) { peripheral.state == .connected })
        peripheral.discoverServices(nil)
        await bench.wait(60)
        peripheral.discoverCharacteristics(nil, for: try #require(peripheral.services?.first))
        await bench.wait(60)
        let characteristic = try #require(peripheral.characteristic("FFE1"))
        var times: [Duration] = []
        for count in 0..<8 as Range<UInt8> {
            await bench.wait(3.4)
            let start = bench.world.now
            peripheral.readValue(for: characteristic)
            #expect(await bench.world.advance(atMost: .seconds(60)) { characteristic.value == Data([count]) })
            times.append(bench.world.now - start)
        }
        return times
    }

    @Test(
        "A read takes one to two connection intervals",
        arguments: [.microseconds(7_500), .milliseconds(100), .seconds(1), .seconds(4)] as [Duration]
    )
    func interval(_ interval: Duration) async throws {
        let times = try await timesOfReads(interval: interval)
        #expect(times.allSatisfy { interval...(interval * 2 + .milliseconds(20)) ~= $0 }, "\(times)")
    }

    @Test("A peripheral with latency receives a read later, and answers at its next connection event")
    func sleeping() async throws {
        let attentive = try await timesOfReads(interval: .milliseconds(100))
        let sleepy = try await timesOfReads(interval: .milliseconds(100), latency: 9)
        #expect(attentive.allSatisfy { $0 < .milliseconds(220) }, "\(attentive)")
        #expect(sleepy.allSatisfy { $0 < .milliseconds(1_220) }, "\(sleepy)")
        #expect(sleepy.reduce(.zero, +) > attentive.reduce(.zero, +) * 2, "\(sleepy)")
    }

    @Test("By default, a read takes at most two of the host's intervals of 15 ms to 30 ms")
    func ownInterval() async throws {
        let times = try await timesOfReads(interval: nil)
        #expect(times.allSatisfy { $0 <= .milliseconds(80) }, "\(times)")
    }

    @Test("An interval or latency that is impossible on a link ends the test with the reason")
    func impossible() async {
        await #expect(processExitsWith: .failure) {
            _ = World(seed: 1).machine("phone", connectionInterval: .milliseconds(5))
        }
        await #expect(processExitsWith: .failure) {
            _ = World(seed: 1).machine("phone", connectionInterval: .seconds(4), peripheralLatency: 3)
        }
        await #expect(processExitsWith: .failure) { _ = World(seed: 1).machine("phone", peripheralLatency: 500) }
    }

    @Test("Connections fail as often as requested")
    func failing() async throws {
        bench.world.place(.lamp)
        let peripheral = try #require(await bench.find())
        var faults = Machine.Faults()
        faults.failedConnections = 2
        bench.phone.cause(faults)
        _ = bench.app.take()
        for _ in 0..<3 {
            bench.central.connect(peripheral)
            await bench.wait(5)
        }
        let outcomes = bench.app.take().filter { $0.hasPrefix("failed") || $0.hasPrefix("connected") }
        #expect(outcomes == ["failed CBError 10", "failed CBError 10", "connected 2"])
        #expect(!bench.world.story.contains("cancelPeripheralConnection"))
    }

    @Test("Connection requests are lost as often as requested, and the connection is made later")
    func lostRequests() async throws {
        let lamp = bench.world.place(.lamp)
        let peripheral = try #require(await bench.find())
        var faults = Machine.Faults()
        faults.lostConnectionRequests = 3
        lamp.cause(faults)
        let start = bench.world.now
        bench.central.connect(peripheral)
        #expect(await bench.world.advance(atMost: .seconds(60)) { peripheral.state == .connected })
        #expect(bench.world.now - start > .milliseconds(300))
    }

    @Test("A device that refuses connections disconnects centrals")
    func refusing() async throws {
        let lamp = bench.world.place(.lamp)
        lamp.refuseConnections()
        let peripheral = try #require(await bench.find())
        bench.central.connect(peripheral)
        await bench.wait(5)
        #expect(peripheral.state == .disconnected)
        #expect(bench.app.take().contains { $0.contains("CBError 7") })
    }

    @Test(
        "Reads can be answered late, with an error, or with another value",
        arguments: [
            (DeviceAnswer.value([1, 2]), "value FFE1 [1, 2] ok", 1.0),
            (.error(0x80), "value FFE1 [] CBATTError 128", 1.0),
            (.value([9]).after(.seconds(5)), "value FFE1 [9] ok", 5.0),
            (.value([]), "value FFE1 [] ok", 1.0),
        ]
    )
    func reads(answer: DeviceAnswer, heard: String, within seconds: Double) async throws {
        let lamp = bench.world.place(.lamp)
        lamp.onRead("FFE1") { _ in answer }
        let peripheral = try #require(await bench.connect())
        peripheral.readValue(for: try #require(peripheral.characteristic("FFE1")))
        await bench.wait(seconds - 0.5)
        if answer.isLate { #expect(bench.app.take() == []) }
        await bench.wait(1)
        #expect(bench.app.take() == [heard])
    }

    @Test("A read that is never answered ends the link after 30 s")
    func silence() async throws {
        let lamp = bench.world.place(.lamp)
        lamp.onRead("FFE1") { _ in .silence }
        let peripheral = try #require(await bench.connect())
        peripheral.readValue(for: try #require(peripheral.characteristic("FFE1")))
        await bench.wait(29)
        #expect(peripheral.state == .connected)
        await bench.wait(5)
        #expect(peripheral.state == .disconnected)
    }

    @Test("A write can be answered with a notification, and the third write is refused")
    func commands() async throws {
        let lamp = bench.world.place(.lamp)
        lamp.onWrite("FFE1") { write in
            write.count < 2
                ? .accepted.notifying(write.value + [80], of: "FFE2", after: .milliseconds(20)) : .error(0x81)
        }
        let peripheral = try #require(await bench.connect())
        peripheral.setNotifyValue(true, for: try #require(peripheral.characteristic("FFE2")))
        await bench.wait()
        _ = bench.app.take()
        for command in 1...3 as ClosedRange<UInt8> {
            let characteristic = try #require(peripheral.characteristic("FFE1"))
            peripheral.writeValue(Data([command]), for: characteristic, type: .withResponse)
            await bench.wait()
        }
        #expect(
            bench.app.take() == [
                "written FFE1 ok", "value FFE2 [1, 80] ok", "written FFE1 ok", "value FFE2 [2, 80] ok",
                "written FFE1 CBATTError 129",
            ]
        )
    }

    @Test("Values can be sent on subscription, and later by the test")
    func subscription() async throws {
        let lamp = bench.world.place(.lamp)
        lamp.onSubscription("FFE2") { _ in .accepted.notifying([1], of: "FFE2", after: .milliseconds(50)) }
        let peripheral = try #require(await bench.connect())
        peripheral.setNotifyValue(true, for: try #require(peripheral.characteristic("FFE2")))
        await bench.wait()
        lamp.notify([2], of: "FFE2")
        await bench.wait()
        #expect(bench.app.take() == ["notifying true ok", "value FFE2 [1] ok", "value FFE2 [2] ok"])
    }

    @Test(
        "A link can be lost at a packet, at a step of an app, and at a time",
        arguments: [
            World.Fault(.linkLoss(.seconds(6)), at: .packet(12), of: "phone"),
            World.Fault(.linkLoss(.seconds(6)), at: .step("didConnect", 1), of: "phone"),
            World.Fault(.linkLoss(.seconds(6)), at: .step("halfway", 1), of: "Lamp"),
            World.Fault(.linkLoss(.seconds(6)), at: .time(.seconds(7)), of: "Lamp"),
        ]
    )
    func linkLoss(fault: World.Fault) async throws {
        #expect(World.Fault("\(fault)") == fault)
        bench.world.plan([fault])
        let lamp = bench.world.place(.lamp)
        let peripheral = try #require(await bench.find())
        bench.central.connect(peripheral)
        await bench.wait(1)
        peripheral.discoverServices(nil)
        await bench.wait(1)
        lamp.reach("halfway")
        await bench.wait(8)
        #expect(bench.app.take().last == "disconnected CBError 6 0")
        bench.central.connect(peripheral)
        await bench.wait(5)
        #expect(peripheral.state == .connected)
    }

    @Test(
        "The controller resets, and the radio is switched off or unplugged, as planned",
        arguments: [
            (World.Fault.Kind.controllerReset, ["state 1", "state 5"]),
            (.bluetoothOff(.seconds(3)), ["state 4", "state 5"]),
            (.unplugged(.seconds(3)), ["state 1", "state 2", "state 5"]),
        ]
    )
    func radio(kind: World.Fault.Kind, states: [String]) async {
        await bench.wait()
        _ = bench.app.take()
        bench.world.plan([World.Fault(kind, at: .time(.seconds(5)), of: "phone")])
        await bench.wait(20)
        #expect(bench.app.take().filter { $0.hasPrefix("state") && $0 != "state 0" } == states)
    }

    @Test("A machine that walks away has a decreasing RSSI")
    func walking() async throws {
        let lamp = bench.world.place(.lamp)
        let peripheral = try #require(await bench.connect())
        lamp.walk(to: World.Position(x: 16), taking: .seconds(15))
        var strengths: [Int] = []
        for _ in 0..<3 {
            peripheral.readRSSI()
            await bench.wait(5)
            for call in bench.app.take() {
                strengths += call.split(separator: " ").dropFirst().prefix(1).compactMap { Int($0) }
            }
        }
        #expect(strengths.count == 3)
        #expect(strengths == strengths.sorted(by: >) && Set(strengths).count == 3)
    }

    @Test("Characteristics with the same UUID, descriptors and included services are simulated")
    func attributes() async throws {
        var lamp = SimulatedPeripheral.lamp
        lamp.services = [
            .init("FFA0", [.init("FFA1", [.read], value: [5])], isPrimary: false),
            .init(
                "FFE0",
                [
                    .init("FFE1", [.read], value: [1], descriptors: [.init(text: "Left")]),
                    .init("FFE1", [.read], value: [2], descriptors: [.init(text: "Right")]),
                ],
                includes: ["FFA0"]
            ),
        ]
        bench.world.place(lamp)
        let peripheral = try #require(await bench.connect())
        let service = try #require(peripheral.services?.first)
        #expect(service.includedServices?.map(\.uuid.uuidString) == ["FFA0"])
        let both = try #require(service.characteristics)
        #expect(both.map(\.uuid.uuidString) == ["FFE1", "FFE1"])
        for characteristic in both {
            peripheral.readValue(for: characteristic)
            peripheral.readValue(for: try #require(characteristic.descriptors?.first))
        }
        await bench.wait()
        #expect(both.map(\.value) == [Data([1]), Data([2])])
        #expect(both.map { $0.descriptors?.first?.value as? String } == ["Left", "Right"])
    }

    @Test("Advertisements contain manufacturer data, service data and transmit power")
    func advertising() async throws {
        var lamp = SimulatedPeripheral.lamp
        lamp.manufacturerData = [0xFF, 0xFF, 1, 2]
        lamp.serviceData = [.init("FFE0", [80])]
        lamp.transmitPower = 4
        bench.world.place(lamp)
        _ = try #require(await bench.find())
        let data = try #require(bench.app.advertisements.last)
        #expect(data[CBAdvertisementDataManufacturerDataKey] as? Data == Data([0xFF, 0xFF, 1, 2]))
        #expect((data[CBAdvertisementDataTxPowerLevelKey] as? NSNumber)?.intValue == 4)
        let services = data[CBAdvertisementDataServiceDataKey] as? [CBUUID: Data]
        #expect(services == [CBUUID(string: "FFE0"): Data([80])])
    }

    @Test("A protected value is read after automatic pairing")
    func protected() async throws {
        var lamp = SimulatedPeripheral.lamp
        lamp.services[0].characteristics[0].isProtected = true
        bench.world.place(lamp)
        let peripheral = try #require(await bench.connect())
        peripheral.readValue(for: try #require(peripheral.characteristic("FFE1")))
        await bench.wait(10)
        #expect(bench.app.take() == ["value FFE1 [7] ok"])
    }

    /// A lamp whose value is for paired devices alone.
    private static var protectedLamp: SimulatedPeripheral {
        var lamp = SimulatedPeripheral.lamp
        lamp.services[0].characteristics[0].isProtected = true
        return lamp
    }

    @Test("A device that refuses to pair refuses its protected values, until it allows pairing")
    func refusedPairing() async throws {
        let lamp = bench.world.place(Self.protectedLamp)
        lamp.refusePairing()
        let peripheral = try #require(await bench.connect())
        let characteristic = try #require(peripheral.characteristic("FFE1"))
        peripheral.readValue(for: characteristic)
        await bench.wait(10)
        let refused = bench.app.take()
        #expect(refused.count == 1 && refused[0].hasPrefix("value FFE1 [] CBATTError"), "\(refused)")
        lamp.refusePairing(false)
        bench.central.cancelPeripheralConnection(peripheral)
        await bench.wait()
        bench.central.connect(peripheral)
        await bench.wait()
        await bench.explore(peripheral)
        _ = bench.app.take()
        peripheral.readValue(for: try #require(peripheral.characteristic("FFE1")))
        await bench.wait(10)
        #expect(bench.app.take() == ["value FFE1 [7] ok"])
    }

    @Test("A device that lost its bond is distinguished from one that is only absent")
    func forgottenBond() async throws {
        let lamp = bench.world.place(Self.protectedLamp)
        let peripheral = try #require(await bench.connect())
        peripheral.readValue(for: try #require(peripheral.characteristic("FFE1")))
        await bench.wait(10)
        #expect(bench.app.take() == ["value FFE1 [7] ok"])
        lamp.forgetBonds()
        await bench.wait()
        #expect(peripheral.state == .disconnected)
        _ = bench.app.take()
        bench.central.connect(peripheral)
        await bench.wait(5)
        let heard = bench.app.take()
        let code = CBError.Code.peerRemovedPairingInformation.rawValue
        #expect(heard.contains { $0.contains("CBError \(code)") }, "\(heard)")
    }

    @Test("A device that saves energy responds later")
    func latency() async throws {
        var times: [Duration] = []
        for latency in [SimulatedPeripheral.Latency.low, .high] {
            let bench = KnobBench()
            var lamp = SimulatedPeripheral.lamp
            lamp.latency = latency
            bench.world.place(lamp)
            let peripheral = try #require(await bench.connect())
            await bench.wait(5)
            let start = bench.world.now
            for _ in 0..<10 {
                peripheral.readValue(for: try #require(peripheral.characteristic("FFE1")))
                #expect(await bench.world.advance(atMost: .seconds(10)) { !bench.app.take().isEmpty })
            }
            times.append(bench.world.now - start)
        }
        #expect(times[1] > times[0] * 2)
    }
}

extension DeviceAnswer {
    /// Whether it comes when a test that does not wait has gone on.
    fileprivate var isLate: Bool { self != .value([1, 2]) && self != .error(0x80) && self != .value([]) }
}
