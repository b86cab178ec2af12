import BLESimulation
import CoreBluetooth
import Testing

@testable import ble

@Suite("Inspecting on the command line") @MainActor
struct InspectingTests {
    private static let renderer = """
        {"name": "Renderer", "services": [
          {"uuid": "FFC0", "primary": false, "characteristics": [
            {"uuid": "FFC1", "properties": ["read"], "value": "0x33"}]},
          {"uuid": "FFB0", "primary": false, "includes": ["FFC0"], "characteristics": [
            {"uuid": "FFB1", "properties": ["read", "notify"], "value": "0x22"}]},
          {"uuid": "FFA0", "includes": ["FFB0", "FFC0"], "characteristics": [
            {"uuid": "FFA1", "properties": ["read"], "value": "0x11"}]}]}
        """

    /// Has `work` done with the renderer connected.
    private func visit(seed: UInt64, _ work: @escaping @MainActor (Central, CBPeripheral) async throws -> Void)
        async throws
    {
        let world = World(seed: seed, conditions: .init(loss: 0.1))
        let phone = world.machine("phone"), sensor = world.machine("sensor", at: .init(x: 2))
        let device = try JSONDecoder().decode(SimulatedPeripheral.self, from: Data(Self.renderer.utf8))
        let renderer = sensor.inhabit { DescribedPeripheral(PeripheralDescription(device)) { _ in } }
        let central = phone.inhabit { Central(clock: world.clock) }
        var isOver = false
        let task = Task {
            defer { isOver = true }
            try await central.powerOn()
            let peripheral = try await central.find(PeerReference(text: "Renderer"), within: .seconds(60))
            try await central.connect(peripheral, within: .seconds(60))
            try await work(central, peripheral)
        }
        for _ in 0..<120 where !isOver { await world.advance(by: .seconds(1)) }
        try #require(isOver)
        try await task.value
        renderer.stop()
    }

    @Test("Included services are shown once, with their contents", arguments: UInt64(0)..<16)
    func tree(seed: UInt64) async throws {
        var lines: [String] = []
        try await visit(seed: seed) { central, peripheral in
            let services = try await central.discover(peripheral, descriptors: true, incomplete: { _ in })
            let tree = AttributeTree(printer: Printer(json: true) { lines.append($0) }, readsValues: true)
            try await tree.print(services, of: peripheral, through: central)
        }
        let facts = try lines.map { try #require(JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]) }
        let values = facts.reduce(into: [String: String]()) { values, fact in
            if let uuid = fact["uuid"] as? String { values[uuid] = fact["value"] as? String }
        }
        #expect(values["FFA1"] == "11" && values["FFB1"] == "22" && values["FFC1"] == "33")
        #expect(values["2902"] == "0000")
        let services = facts.filter { $0["event"] as? String == "service" }.compactMap { $0["uuid"] as? String }
        #expect(services.filter { $0.hasPrefix("FF") } == ["FFA0", "FFB0", "FFC0"])
    }

    @Test("A characteristic of an included service can be read", arguments: UInt64(0)..<16)
    func read(seed: UInt64) async throws {
        var value = Data()
        try await visit(seed: seed) { central, peripheral in
            let found = try await central.characteristic(CBUUID(string: "FFC1"), of: peripheral)
            value = try await central.read(found, of: peripheral)
        }
        #expect(value == Data([0x33]))
    }
}
