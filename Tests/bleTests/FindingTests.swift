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
        ("C0:FF:EE:00:00:01", "C0:FF:EE:00:00:01", nil), ("c0:ff:ee:00:00:01", "C0:FF:EE:00:00:01 ", nil),
        ("C0:FF:EE:00:00", "C0:FF:EE:00:00:01", .loose), ("C0:FF:EE:00:00:0G", "C0:FF:EE:00:00:0G", .exact),
        ("7D0C7A34-3A5E-4F0B-9A3B-0E0E5B1F2C11", "7D0C7A34-3A5E-4F0B-9A3B-0E0E5B1F2C11", nil),
    ]

    @Test("A text matches names by prefix, ignoring case, unless it is an identifier or address", arguments: matches)
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
        return try await find(text, in: world)
    }

    /// Looks for a peripheral, and returns its name.
    private func find(_ text: String, in world: World) async throws -> String? {
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

    @Test("An address finds the device that has it, and never a device that has chosen it as its name")
    func address() async throws {
        let address = "C0:FF:EE:00:00:01"
        func world(_ devices: SimulatedPeripheral...) -> World {
            let world = World(seed: 1)
            for device in devices { world.place(device) }
            return world
        }
        var door = SimulatedPeripheral(name: "Door", services: [.init("FFA0", [])])
        door.address = try .init(address, .static)
        door.position = .init(x: 9)
        var impostor = SimulatedPeripheral(name: address, services: [.init("FFA0", [])])
        impostor.position = .init(x: 1)
        for text in [address, address.lowercased()] {
            #expect(try await find(text, in: world(impostor, door)) == "Door")
            await #expect {
                _ = try await find(text, in: world(impostor))
            } throws: { error in
                if case .notFound(text, within: .seconds(5), seen: [address]) = error as? CommandError {
                    true
                } else {
                    false
                }
            }
        }
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
