import BLESimulation
import Synchronization
import Testing

@testable import CoreBluetoothExtras

@MainActor
@Suite("Waiting tasks", .timeLimit(.minutes(30)))
struct WaitingTests {
    private let bench = LampBench()

    @Test("The response to a cancelled task does not go to another task")
    func cancelled() async throws {
        let (peripheral, found) = try await bench.connect()
        let sink = try #require(found[CBUUID(string: "FFE1")]), written = Count()
        bench.lamp.onWrite("FFE1") { write in
            written.increase()
            return write.count == 0 ? .accepted.after(.seconds(2)) : .error(0x80)
        }
        let first = Task { @MainActor in try await peripheral.write(Data([1]), to: sink) }
        await bench.wait { written.current == 1 }
        await bench.world.advance(by: .milliseconds(100))
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        let second = Task { @MainActor in try await peripheral.write(Data([2]), to: sink) }
        let refusal = await #expect(throws: CBATTError.self) { try await bench.result(of: second) }
        #expect(refusal?.errorCode == 0x80 && written.current == 2)
        #expect(try await bench.result(of: Task { @MainActor in try await peripheral.value(of: sink) }) == Data([1]))
    }

    @Test("A task that writes gets the response to its own write, not to an earlier one of the app")
    func ownWrite() async throws {
        let (peripheral, found) = try await bench.connect()
        let sink = try #require(found[CBUUID(string: "FFE1")])
        bench.lamp.onWrite("FFE1") { write in
            write.value == [1] ? .accepted.after(.seconds(2)) : .error(0x80)
        }
        peripheral.writeValue(Data([1]), for: sink, type: .withResponse)
        let task = Task { @MainActor in try await peripheral.write(Data([2]), to: sink) }
        let refusal = await #expect(throws: CBATTError.self) { try await bench.result(of: task) }
        #expect(refusal?.errorCode == 0x80)
    }

    @Test("A task that reads gets the value of its own read, not of an earlier one of the app")
    func ownRead() async throws {
        let (peripheral, found) = try await bench.connect()
        let value = try #require(found[CBUUID(string: "FFE1")])
        bench.lamp.onRead("FFE1") { read in .value([UInt8(read.count)]).after(.seconds(2)) }
        peripheral.readValue(for: value)
        let task = Task { @MainActor in try await peripheral.value(of: value) }
        #expect(try await bench.result(of: task) == Data([1]))
    }

    @Test("A task that subscribes waits for its own request, not for an earlier one of the app")
    func ownSubscription() async throws {
        let (peripheral, found) = try await bench.connect()
        let state = try #require(found[CBUUID(string: "FFE2")])
        peripheral.setNotifyValue(true, for: state)
        await bench.wait { state.isNotifying }
        peripheral.setNotifyValue(false, for: state)
        let task = Task { @MainActor in
            try await peripheral.setNotifications(true, for: state)
            return state.isNotifying
        }
        #expect(try await bench.result(of: task))
    }

    @Test("A value that cannot be written without response is reported to the task that sends it")
    func unsendable() async throws {
        let (peripheral, found) = try await bench.connect()
        let sink = try #require(found[CBUUID(string: "FFE1")]), state = try #require(found[CBUUID(string: "FFE2")])
        for (target, length, code) in [
            (sink, 513, .invalidAttributeValueLength), (state, 1, .writeNotPermitted),
        ] as [(CBCharacteristic, Int, CBATTError.Code)] {
            let task = Task { @MainActor in try await peripheral.send(Data(count: length), to: target) }
            let error = await #expect(throws: CBATTError.self) { try await bench.result(of: task) }
            #expect(error?.code == code)
        }
    }

    @Test("A new connection attempt does not fail with a previous cancelled one")
    func again() async throws {
        let (peripheral, _) = try await bench.connect()
        try await bench.result(of: Task { @MainActor in try await bench.central.disconnect(peripheral) })
        for _ in 0..<10 {
            let first = Task { @MainActor in try await bench.central.connect(peripheral, timeout: nil) }
            for _ in 0..<100 where peripheral.state != .connecting { await Task.yield() }
            first.cancel()
            _ = await first.result
            let second = Task { @MainActor in try await bench.central.connect(peripheral, timeout: .seconds(10)) }
            try await bench.result(of: second)
            #expect(peripheral.state == .connected)
            let ends = (0..<2).map { _ in
                Task { @MainActor in try await bench.central.disconnect(peripheral) }
            }
            for end in ends { try await bench.result(of: end) }
        }
    }

    @Test("A replaced scan ends, and does not stop the new scan", arguments: [false, true])
    func replaced(isDropped: Bool) async throws {
        let filter = ScanFilter(allowsDuplicates: true), found = Count(), later = Count()
        await bench.wait { bench.central.state == .poweredOn }
        let first = Task { @MainActor in
            for await _ in bench.central.discoveries(filter) { found.increase() }
            return !Task.isCancelled
        }
        await bench.wait { found.current > 0 }
        let second = Task { @MainActor in
            for await _ in bench.central.discoveries(filter) { later.increase() }
        }
        await bench.wait { later.current > 0 }
        if isDropped { first.cancel() }
        #expect(try await bench.result(of: Task { @MainActor in await first.value }) || isDropped)
        let before = (found.current, later.current)
        await bench.wait(2)
        #expect(found.current == before.0 && later.current > before.1)
        #expect(bench.central.isScanning)
        second.cancel()
        await second.value
        #expect(!bench.central.isScanning)
    }

    @Test("When the app stops or restarts the scan, iteration over it ends", arguments: [false, true])
    func endedByApp(isBegunAnew: Bool) async throws {
        let found = Count(), central = bench.central
        await bench.wait { central.state == .poweredOn }
        let task = Task { @MainActor in
            for await _ in central.discoveries(ScanFilter(allowsDuplicates: true)) { found.increase() }
            try Task.checkCancellation()
        }
        await bench.wait { found.current > 0 }
        if isBegunAnew { central.scanForPeripherals(withServices: nil) } else { central.stopScan() }
        try await bench.result(of: task)
        #expect(central.isScanning == isBegunAnew)
    }

    @Test("The device sends values until the last task that iterates over them ends")
    func iterated() async throws {
        let (peripheral, characteristics) = try await bench.connect()
        let state = try #require(characteristics[CBUUID(string: "FFE2")]), counts = [Count(), Count()]
        let tasks = counts.map { count in
            Task { @MainActor in
                for try await _ in peripheral.values(of: state) { count.increase() }
            }
        }
        await bench.wait { state.isNotifying }
        for (number, task) in tasks.enumerated() {
            bench.lamp.notify([UInt8(number)], of: "FFE2")
            await bench.wait(1)
            #expect(counts.map(\.current) == [1, number + 1])
            task.cancel()
            _ = await task.result
            await bench.wait(1)
            #expect(state.isNotifying == (number == 0))
        }
    }

    @Test("Waiting for a condition that already holds needs no event")
    func room() async throws {
        let (peripheral, found) = try await bench.connect()
        let sink = try #require(found[CBUUID(string: "FFE1")])
        #expect(peripheral.canSendWriteWithoutResponse)
        try await bench.result(of: Task { @MainActor in try await peripheral.roomToSend() })
        for _ in 0..<600 { peripheral.writeValue(Data([0]), for: sink, type: .withoutResponse) }
        #expect(!peripheral.canSendWriteWithoutResponse)
        let senders = (1...40).map { number in
            Task { @MainActor in try await peripheral.send(Data([UInt8(number)]), to: sink) }
        }
        for sender in senders { try await bench.result(of: sender) }
        bench.central.cancelPeripheralConnection(peripheral)
        await bench.wait { peripheral.state == .disconnected }
        let late = Task { @MainActor in try await peripheral.roomToSend() }
        let error = await #expect(throws: CBError.self) { try await bench.result(of: late) }
        #expect(error?.code == .notConnected)
    }
}

/// How often something has happened.
private final class Count: Sendable {
    private let value = Atomic(0)

    var current: Int { value.load(ordering: .relaxed) }

    func increase() { value.add(1, ordering: .relaxed) }
}
