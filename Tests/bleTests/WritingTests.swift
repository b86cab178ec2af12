import ArgumentParser
import BLESimulation
import CoreBluetooth
import Testing

@testable import ble

@Suite("Writing on the command line") @MainActor
struct WritingTests {
    private static let lamp = """
        {"name": "Lamp", "services": [{"uuid": "FFA0", "characteristics": [
          {"uuid": "FFA1", "properties": ["read", "writeWithoutResponse"], "value": "0x11"},
          {"uuid": "FFA2", "properties": ["read", "write"]}]}]}
        """

    @Test(
        "A value that is not hexadecimal is a usage error of this command",
        arguments: [("0", false), ("zz", false), ("0x0", false), ("0a0B", true), ("0xff", true), ("", true)]
    )
    func usage(value: String, isRight: Bool) {
        let isTaken = (try? Write.parse(["Lamp", "2A00", value])) != nil
        #expect(isTaken == isRight)
        #expect(throws: Never.self) { try Write.parse(["Lamp", "2A00", value, "--text"]) }
    }

    @Test("A failure is one sentence with the error code")
    func failure() {
        let trouble = CommandError.failed("Writing 2A00", CBATTError(.writeNotPermitted))
        #expect(
            trouble.description == "Writing 2A00 failed: Writing the attribute is not permitted (CBATTErrorDomain 3)."
        )
    }

    @Test("A value that would be dropped is refused", arguments: [("FFA1", 600), ("FFA2", 1)])
    func refused(uuid: String, count: Int) async throws {
        let world = World(seed: 1)
        let phone = world.machine("phone"), sensor = world.machine("sensor", at: .init(x: 2))
        let device = try JSONDecoder().decode(SimulatedPeripheral.self, from: Data(Self.lamp.utf8))
        let lamp = sensor.inhabit { DescribedPeripheral(PeripheralDescription(device)) { _ in } }
        let central = phone.inhabit { Central(clock: world.clock) }
        var isOver = false
        let work = Task {
            defer { isOver = true }
            try await central.powerOn()
            let peripheral = try await central.find(PeerReference(text: "Lamp"), within: .seconds(60))
            try await central.connect(peripheral, within: .seconds(60))
            let found = try await central.characteristic(CBUUID(string: uuid), of: peripheral)
            try await central.writeCommand(Data(count: count), to: found, of: peripheral)
        }
        for _ in 0..<120 where !isOver { await world.advance(by: .seconds(1)) }
        try #require(isOver)
        await #expect {
            try await work.value
        } throws: {
            ($0 as? CommandError)?.description.hasPrefix("\(uuid) was not written: ") == true
        }
        lamp.stop()
    }

    @Test(
        "A write without response has been sent when the step ends, however long ago discovery was",
        arguments: 0..<16 as Range<UInt64>,
        [false, true]
    )
    func commands(seed: UInt64, waits: Bool) async throws {
        let world = World(seed: seed, conditions: .init(loss: 0.3))
        let phone = world.machine("phone"), sensor = world.machine("sensor", at: .init(x: 2))
        let device = try JSONDecoder().decode(SimulatedPeripheral.self, from: Data(Self.lamp.utf8))
        var taken: [String] = [], seen: [String]?, isOver = false
        let lamp = sensor.inhabit {
            DescribedPeripheral(PeripheralDescription(device)) { fact in
                if fact.event == "written" { taken.append(fact.fields["value"] as? String ?? "") }
            }
        }
        let central = phone.inhabit { Central(clock: world.clock) }
        let mayWrite = AsyncStream.makeStream(of: Void.self)
        let work = Task {
            defer { isOver = true }
            try await central.powerOn()
            let peripheral = try await central.find(PeerReference(text: "Lamp"), within: .seconds(60))
            try await central.connect(peripheral, within: .seconds(60))
            let found = try await central.characteristic(CBUUID(string: "FFA1"), of: peripheral)
            if waits { for await _ in mayWrite.stream { break } }
            try await central.writeCommand(Data([0xAB]), to: found, of: peripheral)
            seen = taken
            try await central.disconnect(peripheral)
        }
        for second in 0..<120 where !isOver {
            if second == 60 { mayWrite.continuation.yield() }
            await world.advance(by: .seconds(1))
        }
        try #require(isOver)
        try await work.value
        #expect(seen == ["ab"])
        lamp.stop()
    }
}
