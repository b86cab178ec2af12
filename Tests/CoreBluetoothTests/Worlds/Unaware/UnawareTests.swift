import BLERuntime
import BLESimulation
import CoreBluetooth
import Testing

/// Apps that know nothing of worlds, make their managers where they like, and are tested in one.
@Suite("Apps in a world without code for it", .timeLimit(.minutes(30)))
struct UnawareTests {
    static let thermometer = SimulatedPeripheral(
        name: "Thermometer",
        services: [
            .init("181A", [.init("2A6E", [.notify], notifies: .init(every: .seconds(1), [[20], [21], [22]]))])
        ]
    )
    static let lamp = SimulatedPeripheral(
        name: "Lamp",
        services: [.init("FFE0", [.init("FFE1", [.read, .write], value: [0])])]
    )

    private func world(_ peripherals: SimulatedPeripheral..., seed: UInt64 = 1) -> (World, Machine) {
        let world = World(seed: seed)
        for peripheral in peripherals { world.place(peripheral) }
        return (world, world.machine("phone"))
    }

    @Test("A singleton on a private queue works in a world", arguments: 0..<4 as Range<UInt64>)
    func singleton(seed: UInt64) async {
        let (world, phone) = world(Self.thermometer, seed: seed)
        await phone.inhabitProcessWide {
            Thermometers.renew()
            Thermometers.shared.start()
            #expect(await world.advance(atMost: .seconds(60)) { Thermometers.shared.all.count >= 4 })
            #expect(Thermometers.shared.all.prefix(4) == [20, 21, 22, 20])
        }
    }

    @Test("A lazy manager behind Combine-style subscriptions works in a world")
    @MainActor func publisher() async {
        let (world, phone) = world(Self.thermometer, Self.lamp)
        await phone.inhabitProcessWide {
            let radar = Radar()
            var names: Set<String> = []
            let subscription = radar.names { names.insert($0) }
            #expect(await world.advance(atMost: .seconds(20)) { names == ["Thermometer", "Lamp"] })
            withExtendedLifetime(subscription) {}
        }
    }

    @Test("An async wrapper whose manager is created by a detached task works in a world")
    func wrapper() async throws {
        let (world, phone) = world(Self.lamp)
        try await phone.inhabitProcessWide {
            let lamp = AsyncLamp(), isDone = Locked(false)
            let task = Task.detached {
                defer { isDone.withLock { $0 = true } }
                try await lamp.connect()
                try await lamp.shine(80)
            }
            #expect(await world.advance(atMost: .seconds(60)) { isDone.withLock { $0 } })
            try await task.value
        }
    }

    @Test("A view model whose timer creates the manager works in a world")
    @MainActor func model() async {
        let (world, phone) = world(Self.thermometer)
        await phone.inhabitProcessWide {
            let model = BluetoothModel()
            var changes = 0
            model.objectWillChange = { changes += 1 }
            model.appear()
            #expect(await world.reaches { model.devices == ["Thermometer"] })
            #expect(model.isOn)
            #expect(changes == 2)
        }
    }

    @Test("A lazy peripheral started by any thread works in a world")
    @MainActor func doorbell() async {
        let (world, phone) = world()
        await phone.inhabitProcessWide {
            let bell = Doorbell(), queue = DispatchQueue(label: "any")
            await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
                queue.async {
                    _ = bell.isOpen
                    done.resume()
                }
            }
            #expect(await world.advance(atMost: .seconds(10)) { bell.isOpen })
        }
    }

    @Test("A nested world takes precedence over the process-wide one")
    func nested() async {
        let (_, phone) = world()
        let other = World(seed: 2).machine("tablet")
        await phone.inhabitProcessWide {
            #expect(DefaultLink.chosen?.host == phone.host)
            other.inhabit { #expect(DefaultLink.chosen?.host == other.host) }
            await Task.detached { #expect(DefaultLink.chosen?.host == phone.host) }.value
        }
    }

    @Test("Tests that run in parallel use the process one after the other")
    func exclusive() async {
        let occupants = Occupants()
        let tasks = (0..<8 as Range<UInt64>).map { seed in
            Task.detached {
                await World(seed: seed).machine("phone").inhabitProcessWide {
                    occupants.enter()
                    await Task.yield()
                    occupants.leave()
                }
            }
        }
        for task in tasks { await task.value }
        #expect(occupants.most == 1)
    }

    /// Counts those who are somewhere.
    private final class Occupants: Sendable {
        private let counts = Locked((now: 0, most: 0))
        var most: Int { counts.withLock { $0.most } }

        func enter() {
            counts.withLock { counts in
                counts.now += 1
                counts.most = max(counts.most, counts.now)
            }
        }

        func leave() { counts.withLock { $0.now -= 1 } }
    }
}

extension World {
    /// Lets time pass until it is so, however often the computer's own timers have to fire before.
    fileprivate func reaches(_ isDone: () -> Bool) async -> Bool {
        var tries = 0
        while await !advance(atMost: .seconds(10), until: isDone) {
            tries += 1
            if tries == 100 { return false }
        }
        return true
    }
}
