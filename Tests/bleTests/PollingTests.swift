import ArgumentParser
import BLESimulation
import CoreBluetooth
import Testing

@testable import ble

@Suite("Polling values on the command line") @MainActor
struct PollingTests {
    /// What a run printed, and how it ended.
    private struct Run {
        let facts: [[String: String]]
        let trouble: CommandError?

        /// The events with the last digit of the characteristic and the value.
        var summary: [String] {
            facts.map { "\($0["event"] ?? "") \($0["characteristic"]?.suffix(1) ?? "") \($0["value"] ?? "")" }
        }
    }

    /// Whom a run can be disturbed through.
    private struct Scene {
        let central: Central
        let sensor: Machine
    }

    private static let lamp = """
        {"name": "Lamp", "services": [{"uuid": "FFA0", "characteristics": [
          {"uuid": "FFA1", "properties": ["read"], "value": "0x11"},
          {"uuid": "FFA2", "properties": ["read"], "value": "0x22"},
          {"uuid": "FFA3", "properties": ["notify"], "value": "0x33"}]}]}
        """

    /// Reads these characteristics of a lamp; `prepare` is called just before, and `disturb` in the first pause.
    private func read(
        _ uuids: [String],
        times: Int?,
        every interval: Duration = .zero,
        disturb: ((Scene) -> Void)? = nil,
        prepare: ((Scene) -> Void)? = nil
    ) async throws -> Run {
        let world = World(seed: 3, conditions: .init(loss: 0.1))
        let phone = world.machine("phone"), sensor = world.machine("sensor", at: .init(x: 2))
        let device = try JSONDecoder().decode(SimulatedPeripheral.self, from: Data(Self.lamp.utf8))
        let lamp = sensor.inhabit { DescribedPeripheral(PeripheralDescription(device)) { _ in } }
        let scene = Scene(central: phone.inhabit { Central(clock: world.clock) }, sensor: sensor)
        var lines: [String] = [], trouble: CommandError?, isOver = false, isReading = false
        let work = Task {
            defer { isOver = true }
            let central = scene.central
            try await central.powerOn()
            let peripheral = try await central.find(PeerReference(text: "Lamp"), within: .seconds(60))
            try await central.connect(peripheral, within: .seconds(60))
            let references = uuids.compactMap { CharacteristicReference(argument: $0) }
            let found = try await central.characteristics(references, of: peripheral)
            isReading = true
            prepare?(scene)
            let polling = Polling(times: times, interval: interval, Printer(json: true) { lines.append($0) })
            do {
                try await polling.read(found, of: peripheral, through: central)
            } catch let thrown as CommandError {
                trouble = thrown
            }
        }
        var isDisturbed = false
        for _ in 0..<120 where !isOver {
            await world.advance(by: .seconds(1))
            guard isReading, lines.count == uuids.count, !isDisturbed else { continue }
            isDisturbed = true
            disturb?(scene)
        }
        try #require(isOver)
        try await work.value
        lamp.stop()
        return Run(facts: try lines.map(Self.object), trouble: trouble)
    }

    private static func object(_ line: String) throws -> [String: String] {
        try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String])
    }

    @Test("All values are read each time and printed in the order of the arguments, repeated ones twice")
    func order() async throws {
        let run = try await read(["FFA2", "FFA1", "FFA2"], times: 3)
        let once = ["read 2 22", "read 1 11", "read 2 22"]
        #expect(run.summary == once + once + once)
        #expect(run.trouble == nil)
    }

    @Test("A refused read is printed with the reason, others continue, and the end counts the refused ones")
    func refusals() async throws {
        let run = try await read(["FFA1", "FFA3", "FFA2"], times: 2)
        // What has no property for it is refused without the peripheral being asked, and told in its turn all the same.
        let once = ["read 1 11", "failed 3 ", "read 2 22"]
        #expect(run.summary == once + once)
        #expect(run.facts[1]["reason"]?.hasPrefix("Reading FFA3 failed: ") == true)
        #expect(run.trouble?.description == "2 of 6 reads failed.")
    }

    @Test("A single refused read reports the reason and prints nothing")
    func onlyOne() async throws {
        let run = try await read(["FFA3"], times: 1)
        #expect(run.facts.isEmpty)
        #expect(run.trouble?.description.hasPrefix("Reading FFA3 failed: ") == true)
    }

    @Test("An interrupt ends the pause and the polling")
    func interruption() async throws {
        let run = try await read(["FFA1", "FFA2"], times: nil, every: .seconds(3600)) { $0.central.interrupt() }
        #expect(run.summary == ["read 1 11", "read 2 22"])
        #expect(run.trouble == nil)
    }

    @Test("A disconnection ends the pause, and is reported")
    func loss() async throws {
        let run = try await read(["FFA1", "FFA2"], times: nil, every: .seconds(3600)) {
            $0.sensor.switchBluetoothOff()
        }
        #expect(run.summary == ["read 1 11", "read 2 22"])
        #expect(run.trouble?.description.contains(" disconnected") == true)
    }

    @Test("Each read lost with the link is reported with the reason, and then the disconnection", arguments: [1, 3])
    func lossWhileReading(times: Int) async throws {
        let run = try await read(["FFA2", "FFA1"], times: times, prepare: { $0.sensor.switchBluetoothOff() })
        #expect(run.summary == ["failed 2 ", "failed 1 "])
        #expect(run.facts.allSatisfy { $0["reason"]?.contains("FFA") == true })
        #expect(run.trouble?.description.contains(" disconnected") == true)
    }

    @Test(
        "Invalid numbers are refused",
        arguments: [["--count", "0"], ["--count=-1"], ["--every=-1"], ["--every", "inf"], ["--every", "nan"]]
    )
    func options(options: [String]) {
        #expect(throws: (any Error).self) { try Read.parse(["Lamp", "2A00"] + options) }
        #expect(throws: Never.self) { try Read.parse(["Lamp", "2A00", "2A19", "--count", "3", "--every", "0.5"]) }
    }
}
