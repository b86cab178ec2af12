import ArgumentParser
import BLESimulation
import CoreBluetooth
import Testing

@testable import ble

@Suite("Finding peripherals on the command line") @MainActor
struct FindingTests {
    private static let lamp = #"{"name": "Lamp", "services": [{"uuid": "FFA0", "characteristics": []}]}"#

    @Test("A peripheral is named as it advertises, whatever its GAP name", arguments: 0..<16 as Range<UInt64>)
    func advertisedName(seed: UInt64) async throws {
        let world = World(seed: seed, conditions: .init(loss: 0.2))
        let phone = world.machine("phone"), sensor = world.machine("sensor", at: .init(x: 2))
        let device = try JSONDecoder().decode(SimulatedPeripheral.self, from: Data(Self.lamp.utf8))
        let lamp = sensor.inhabit { DescribedPeripheral(PeripheralDescription(device)) { _ in } }
        let central = phone.inhabit { Central(clock: world.clock) }
        var found: CBPeripheral?, isOver = false
        let work = Task {
            defer { isOver = true }
            try await central.powerOn()
            let peripheral = try await central.find(PeerReference(text: "Lamp"), within: .seconds(60))
            try await central.connect(peripheral, within: .seconds(60))
            try await central.discover(peripheral, descriptors: false, incomplete: { _ in })
            found = peripheral
        }
        for _ in 0..<120 where !isOver { await world.advance(by: .seconds(1)) }
        try #require(isOver)
        try await work.value
        await world.advance(by: .seconds(10))
        let peripheral = try #require(found)
        #expect(peripheral.name == "sensor")
        #expect(central.name(of: peripheral) == "Lamp")
        let sighting = try #require(central.found)
        let identifier = sighting.peripheral.identifier
        #expect(PeerReference(text: "Lamp").match(identifier, name: sighting.name) == .exact)
        #expect(PeerReference(text: "sensor").match(identifier, name: sighting.name) == nil)
        lamp.stop()
    }

    nonisolated static let matches: [(text: String, name: String?, PeerReference.Match?)] = [
        ("Lamp", "Lamp", .exact), ("lamp", "Lamp", .loose), ("La", "Lamp", .loose), ("Lamp 2", "Lamp", nil),
        ("amp", "Lamp", nil), ("", "Lamp", nil), ("Lamp", nil, nil), ("ÄRMEL", "Ärmel 3", .loose),
    ]

    @Test("A name matches by prefix, ignoring case", arguments: matches)
    func matching(text: String, name: String?, match: PeerReference.Match?) {
        #expect(PeerReference(text: text).match(UUID(), name: name) == match)
    }

    /// Looks for somebody among peripherals of these names.
    private func find(_ text: String, among names: [String]) async throws -> String? {
        let world = World(seed: 1)
        let hosts = try names.map { name in
            let octets = Data(Self.lamp.replacing("Lamp", with: name).utf8)
            let device = try JSONDecoder().decode(SimulatedPeripheral.self, from: octets)
            return world.machine(name).inhabit { DescribedPeripheral(PeripheralDescription(device)) { _ in } }
        }
        defer { for host in hosts { host.stop() } }
        let central = world.machine("phone").inhabit { Central(clock: world.clock) }
        var isOver = false
        let work = Task {
            defer { isOver = true }
            try await central.powerOn()
            let peripheral = try await central.find(PeerReference(text: text), within: .seconds(5))
            return central.name(of: peripheral)
        }
        for _ in 0..<200 where !isOver { await world.advance(by: .milliseconds(100)) }
        try #require(isOver)
        return try await work.value
    }

    @Test("An exact name takes precedence over longer ones")
    func exact() async throws {
        #expect(try await find("lamp", among: ["Lamp 2", "Door"]) == "Lamp 2")
        #expect(try await find("Lamp", among: ["Lamp 2", "Lamp", "Lamp 3"]) == "Lamp")
    }

    @Test("An ambiguous prefix is reported with the matches, and a missing name with the devices seen instead")
    func troubles() async {
        await #expect {
            _ = try await find("lamp", among: ["Lamp 2", "Lamp 3"])
        } throws: { error in
            guard case .ambiguous("lamp", let names) = error as? CommandError else { return false }
            return Set(names) == ["Lamp 2", "Lamp 3"]
        }
        await #expect {
            _ = try await find("lamp", among: ["Door", "Heart"])
        } throws: { error in
            guard case .notFound("lamp", within: .seconds(5), let seen) = error as? CommandError else { return false }
            let text = CommandError.notFound("lamp", within: .seconds(5), seen: seen).description
            return Set(seen) == ["Door", "Heart"] && text.contains("“Door”")
        }
    }
    @Test("A device that was not found or did not answer gives the exit status 75, and other failures 1")
    func statuses() {
        let (silent, refused) = (CBError(.connectionTimeout), CBError(.peripheralDisconnected))
        for error in [CommandError.notFound("Lamp", within: .seconds(1), seen: []), .failed("Reading FFE1", silent)] {
            #expect(error.exitCode.rawValue == 75)
        }
        #expect(CommandError.disconnected("Lamp", silent).exitCode.rawValue == 75)
        for error in [CommandError.failed("Reading FFE1", refused), .failed("Reading FFE1", nil)] {
            #expect(error.exitCode.rawValue == 1)
        }
    }
}
