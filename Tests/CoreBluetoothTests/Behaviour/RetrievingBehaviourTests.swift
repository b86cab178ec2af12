import BLEHost
import BLERuntime
import BLESimulation
import Testing

@testable import CoreBluetooth

@Suite("Apps' view of retrieving peripherals")
struct RetrievingBehaviourTests {
    let bench = WorldBench()

    @Test(
        "Peripherals are retrieved in the requested order, and are the app's existing objects",
        .behaviour("1.2.5", "1.4.1")
    )
    func retrieving() async throws {
        let far = bench.world.machine("another", at: .init(x: 3)), second = bench.anotherServer(on: far)
        await bench.publish(.dynamic())
        second.manager.startAdvertising([CBAdvertisementDataServiceUUIDsKey: [CBUUID(string: "FFF0")]])
        bench.central.scanForPeripherals(withServices: [CBUUID(string: "FFF0")])
        await bench.wait(5)
        let peripherals = bench.app.peripherals
        #expect(peripherals.count == 2)
        let identifiers = peripherals.reversed().map(\.identifier)
        let retrieved = bench.central.retrievePeripherals(withIdentifiers: [identifiers[0], UUID(), identifiers[1]])
        #expect(retrieved.count == 2)
        #expect(retrieved.first === peripherals[1])
        #expect(retrieved.last === peripherals[0])
        let tablet = bench.anotherCentral(on: bench.world.machine("tablet", at: .init(x: 1)))
        await bench.wait()
        tablet.manager.scanForPeripherals(withServices: [CBUUID(string: "FFF0")])
        await bench.wait(5)
        #expect(Set(tablet.app.peripherals.map(\.identifier)).isDisjoint(with: identifiers))
        let again = WorldBench()
        await again.publish(.dynamic())
        #expect(identifiers.contains(try #require(await again.find()).identifier))
    }

    @Test(
        "Peripherals that the machine has found are known to later managers, even after a relaunch",
        .behaviour("1.2.27")
    )
    func retrievingAnew() async throws {
        await bench.publish(.dynamic())
        let identifier = try #require(await bench.find()).identifier
        let late = bench.anotherCentral()
        await bench.wait()
        #expect(late.manager.retrievePeripherals(withIdentifiers: [identifier]).map(\.identifier) == [identifier])
        bench.phone.endApps(.crash)
        await bench.wait()
        let again = bench.anotherCentral()
        await bench.wait()
        let peripheral = try #require(again.manager.retrievePeripherals(withIdentifiers: [identifier]).first)
        again.manager.connect(peripheral)
        await bench.wait(5)
        #expect(peripheral.state == .connected)
    }

    @Test("A peripheral found by one manager becomes known to existing managers", .behaviour("1.2.27"))
    func retrievingFound() async throws {
        let early = bench.anotherCentral()
        bench.world.place(.lamp)
        await bench.wait()
        bench.central.scanForPeripherals(withServices: nil)
        await bench.wait()
        let peripheral = try #require(bench.app.peripherals.first), identifiers = [peripheral.identifier]
        let known = try #require(early.manager.retrievePeripherals(withIdentifiers: identifiers).first)
        #expect(known !== peripheral && known.name == "Lamp")
        early.manager.connect(known)
        await bench.wait(5)
        #expect(known.state == .connected)
    }

    @Test(
        "A peripheral that a new manager knows from the start becomes known to existing managers",
        .behaviour("1.2.27")
    )
    func retrievingHeardBefore() async throws {
        let early = bench.anotherCentral(), stranger = Stranger(on: bench.phone)
        await bench.publish(.dynamic())
        let identifiers = [UUID(try #require(await stranger.find(bench)))]
        #expect(early.manager.retrievePeripherals(withIdentifiers: identifiers).isEmpty)
        let late = bench.anotherCentral()
        await bench.wait()
        #expect(late.manager.retrievePeripherals(withIdentifiers: identifiers).count == 1)
        #expect(early.manager.retrievePeripherals(withIdentifiers: identifiers).count == 1)
    }

    @Test("A peripheral connected by another program is known, and stays known afterwards", .behaviour("1.2.27"))
    func retrievingConnected() async throws {
        let stranger = Stranger(on: bench.phone)
        await bench.publish(.dynamic())
        let peer = try #require(await stranger.find(bench)), identifiers = [UUID(peer)]
        #expect(bench.central.retrievePeripherals(withIdentifiers: identifiers).isEmpty)
        stranger.session.send(.connect(peer, ConnectRequest()))
        await bench.wait(5)
        #expect(bench.central.retrievePeripherals(withIdentifiers: identifiers).count == 1)
        stranger.session.send(.cancelConnection(peer))
        await bench.wait(5)
        #expect(bench.central.retrievePeripherals(withIdentifiers: identifiers).count == 1)
    }
}

/// A session of another program, which shares the machine with those of this one and nothing else.
private final class Stranger {
    private final class Found: Sendable {
        let peer = Protected<PeerIdentifier?>(nil)
    }

    let session: any HostSession
    private let found = Found()

    init(on machine: Machine) {
        session = machine.open(.central, on: DispatchQueue(label: "stranger")) { [found] event in
            if case .discovered(let report) = event { found.peer.withLock { $0 = report.peer } }
        }
    }

    /// Who is heard in two seconds.
    func find(_ bench: WorldBench) async -> PeerIdentifier? {
        await bench.wait()
        session.send(.scan(ScanRequest(), number: 1))
        await bench.wait()
        session.send(.stopScan)
        await bench.wait()
        return found.peer.current
    }
}
