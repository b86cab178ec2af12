import BLESimulation
import CoreBluetoothExtras
import Testing

@Suite("Centrals beyond Apple's API", .timeLimit(.minutes(30)))
struct CentralExtrasTests {
    @Test("A discovery has the address, the packet and the original octets")
    func discovery() async throws {
        let bench = ExtrasBench()
        await bench.publish()
        let found = try await bench.run { try await bench.discover() }
        let advertisement = found.advertisement
        #expect(advertisement.structures.map(\.type) == [0x01, 0x03, 0x09])
        #expect(advertisement.data == Data([2, 1, 6, 3, 3, 0xF0, 0xFF, 5, 9] + "Nora".utf8))
        #expect(advertisement.isConnectable && advertisement.isScannable && !advertisement.isDirected)
        #expect(advertisement.primaryPhysicalLayer == .le1M && advertisement.setIdentifier == nil)
        #expect(try #require(advertisement.rssi) < 0)
        #expect(found.peripheral.bluetoothAddress == advertisement.address)
        #expect(advertisement.address.description.count == 17)
        #expect(!bench.central.isScanning, "the scan ends with the iteration")
    }

    @MainActor
    @Test(
        "A filter passes devices with sufficient RSSI and a matching name",
        arguments: [(-127, "No", true), (-127, "Max", false), (0, nil, false), (-127, nil, true)]
            as [(Int, String?, Bool)]
    )
    func filter(minimum: Int, prefix: String?, isFound: Bool) async throws {
        let bench = ExtrasBench()
        await bench.publish()
        let filter = ScanFilter(minimumRSSI: minimum, namePrefix: prefix)
        let scan = Task { @MainActor in
            for await _ in bench.central.discoveries(filter) { return true }
            return false
        }
        for _ in 0..<100 where !bench.central.isScanning { await bench.world.advance(by: .milliseconds(10)) }
        await bench.world.advance(by: .seconds(3))
        scan.cancel()
        #expect(await scan.value == isFound)
        #expect(!bench.central.isScanning)
    }

    @Test("A connection that times out fails, and the attempt ends")
    func timeout() async throws {
        let bench = ExtrasBench()
        await bench.publish()
        try await bench.run {
            let peripheral = try await bench.discover().peripheral
            bench.server.stopAdvertising()
            await bench.world.advance(by: .seconds(1))
            let error = await #expect(throws: CBError.self) {
                try await bench.central.connect(peripheral, timeout: .seconds(5))
            }
            #expect(error?.code == .connectionTimeout)
            #expect(peripheral.state == .disconnected)
        }
    }

    @MainActor
    @Test("Cancelling a task cancels its pending connection")
    func cancellation() async throws {
        let bench = ExtrasBench()
        await bench.publish()
        let peripheral = try await bench.run { try await bench.discover().peripheral }
        bench.server.stopAdvertising()
        await bench.world.advance(by: .seconds(1))
        let attempt = Task { @MainActor in try await bench.central.connect(peripheral, timeout: nil) }
        for _ in 0..<100 where peripheral.state != .connecting { await bench.world.advance(by: .milliseconds(10)) }
        #expect(peripheral.state == .connecting)
        attempt.cancel()
        await #expect(throws: CancellationError.self) { try await attempt.value }
        await bench.world.advance(by: .seconds(1))
        #expect(peripheral.state == .disconnected)
    }

    @Test("Tasks read, write and stream values, and receive refusals", arguments: 1...16 as ClosedRange<UInt64>)
    func values(seed: UInt64) async throws {
        let bench = ExtrasBench(seed: seed, loss: 0.1)
        await bench.publish()
        try await bench.run {
            let (peripheral, found) = try await bench.connect()
            let fixed = try #require(found[CBUUID(string: "FFF1")]), sink = try #require(found[CBUUID(string: "FFF3")])
            #expect(try await peripheral.value(of: fixed) == ExtrasBench.fixedValue)
            let descriptor = try #require(try await peripheral.findDescriptors(of: fixed).first)
            #expect(try await peripheral.value(of: descriptor) == Data("fixed".utf8))
            try await peripheral.write(Data([1, 2, 3]), to: sink)
            let refusal = await #expect(throws: CBATTError.self) {
                try await peripheral.write(Data([0xFF]), to: sink)
            }
            #expect(refusal?.code == .writeNotPermitted)
            for number in 0..<100 { try await peripheral.send(Data([UInt8(number)]), to: sink) }
            #expect(try await peripheral.signalStrength() < 0)
            var received: [UInt8] = []
            for try await value in peripheral.values(of: try #require(found[CBUUID(string: "FFF2")])) {
                received += value
                if received.count == 200 { break }
            }
            #expect(received == Array(0..<200))
            await bench.world.advance(by: .seconds(2))
            #expect(bench.sensor.unsubscribed == 1)
            #expect(bench.sensor.written == [Data([1, 2, 3]), Data([0xFF])] + (0..<100).map { Data([UInt8($0)]) })
            try await bench.central.disconnect(peripheral)
            #expect(peripheral.state == .disconnected)
            await #expect(throws: CBError.self) { try await peripheral.value(of: fixed) }
        }
    }

    @Test("Losing the connection ends the tasks that wait for it")
    func loss() async throws {
        let bench = ExtrasBench()
        await bench.publish()
        try await bench.run {
            let (peripheral, found) = try await bench.connect()
            let central = try #require(bench.server.connectedCentrals.first)
            #expect(bench.server.bluetoothAddress(of: central) != nil)
            var received = 0
            let error = await #expect(throws: CBError.self) {
                for try await _ in peripheral.values(of: try #require(found[CBUUID(string: "FFF2")])) {
                    received += 1
                    if received == 200 { bench.server.disconnect(central) }
                }
            }
            #expect(error?.code == .peripheralDisconnected)
            #expect(received == 200)
            await bench.world.advance(by: .seconds(1))
            #expect(bench.server.connectedCentrals.isEmpty)
        }
    }

    @Test("A connection reports its parameters, and changes them on request")
    func tuning() async throws {
        let bench = ExtrasBench()
        await bench.publish()
        try await bench.run {
            let (peripheral, _) = try await bench.connect()
            let range = ConnectionParameterRange(
                interval: .milliseconds(100) ... .milliseconds(100),
                latency: 2,
                supervisionTimeout: .seconds(4)
            )
            try await peripheral.requestConnectionParameters(range)
            let expected = ConnectionParameters(
                interval: .milliseconds(100),
                latency: 2,
                supervisionTimeout: .seconds(4)
            )
            #expect(peripheral.connectionParameters == expected)
            #expect(try #require(peripheral.physicalLayers) == (.le2M, .le2M))
            try await peripheral.requestPhysicalLayers(transmit: [.le1M], receive: [.le1M])
            #expect(try #require(peripheral.physicalLayers) == (.le1M, .le1M))
            #expect(try #require(peripheral.dataLength).transmit == 251)
            try await peripheral.requestDataLength(100)
            await bench.world.advance(by: .seconds(1))
            #expect(try #require(peripheral.dataLength).transmit == 100)
            let impossible = ConnectionParameterRange(
                interval: .seconds(1) ... .seconds(1),
                latency: 10,
                supervisionTimeout: .seconds(2)
            )
            let error = await #expect(throws: CBError.self) {
                try await peripheral.requestConnectionParameters(impossible)
            }
            #expect(error?.code == .invalidParameters)
        }
    }
}
