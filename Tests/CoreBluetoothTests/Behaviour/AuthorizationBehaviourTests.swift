import BLESimulation
import CoreBluetooth
import Testing

@Suite("User authorization for Bluetooth")
struct AuthorizationBehaviourTests {
    let bench = WorldBench()

    /// An app of its own on the phone, whose manager is made now.
    private func start(_ app: Machine.App) -> (CBCentralManager, CentralApp) {
        let delegate = CentralApp()
        return (
            app.inhabit { CBCentralManager(delegate: delegate, queue: DispatchQueue(label: app.name)) }, delegate
        )
    }

    @Test(
        "An app without permission is unauthorized from the start, and others are not",
        .behaviour("1.1.4"),
        arguments: [
            (Machine.Authorization.denied, CBManagerAuthorization.denied), (.restricted, .restricted),
        ]
    )
    func before(authorization: Machine.Authorization, told: CBManagerAuthorization) async {
        let app = bench.phone.app("Fitness")
        app.authorization = authorization
        app.inhabit { #expect(CBManager.authorization == told) }
        bench.phone.inhabit { #expect(CBManager.authorization == .allowedAlways) }
        let (central, delegate) = start(app)
        await bench.wait()
        #expect(central.state == .unauthorized)
        #expect(delegate.take() == ["state 3"])
        #expect(bench.central.state == .poweredOn)
    }

    @Test("An app that loses permission loses its state, and regains access by asking again", .behaviour("1.1.4"))
    func meanwhile() async throws {
        let peripheral = try #require(await bench.connect())
        bench.phone.authorization = .denied
        await bench.wait()
        #expect(bench.app.take() == ["state 3"])
        #expect(peripheral.state == .disconnected)
        #expect(bench.central.retrievePeripherals(withIdentifiers: [peripheral.identifier]).isEmpty)
        await bench.wait(10)
        #expect(await bench.world.machine("tablet").finds("FFF0", in: bench.world))
        bench.phone.authorization = .allowed
        await bench.wait()
        #expect(bench.app.take() == ["state 5"])
        bench.app.forget()
        let again = try #require(await bench.find())
        #expect(again !== peripheral)
        bench.central.connect(again)
        await bench.wait(5)
        #expect(again.state == .connected)
    }

    @Test("A peripheral manager without permission is no longer found", .behaviour("1.1.4"))
    func server() async {
        await bench.publish()
        await bench.wait()
        bench.sensor.authorization = .denied
        await bench.wait()
        #expect(bench.server.state == .unauthorized)
        #expect(await bench.find() == nil)
    }

    @Test("Until the user decides, the state is unknown, and the user is asked once", .behaviour("1.1.5"))
    func undecided() async {
        let app = bench.phone.app("Fitness")
        app.authorization = .notDetermined
        app.inhabit { #expect(CBManager.authorization == .notDetermined) }
        #expect(bench.phone.alerts.isEmpty)
        let managers = [start(app), start(app)]
        await bench.wait(60)
        #expect(managers.map(\.0.state) == [.unknown, .unknown])
        #expect(bench.phone.alerts.map(\.text) == ["“Fitness” would like to use Bluetooth."])
        app.authorization = .allowed
        await bench.wait()
        #expect(managers.map { $0.1.take() } == [["state 5"], ["state 5"]])
    }

    @Test("The deprecated class methods return the same", .behaviour("1.1.4"))
    @available(*, deprecated)
    func deprecated() {
        bench.sensor.authorization = .denied
        bench.sensor.inhabit { #expect(CBPeripheralManager.authorizationStatus() == .denied) }
    }
}

extension Machine {
    /// Whether a scan on this machine finds somebody who advertises the service.
    fileprivate func finds(_ service: String, in world: World) async -> Bool {
        let app = CentralApp()
        let central = inhabit { CBCentralManager(delegate: app, queue: DispatchQueue(label: "finder")) }
        await world.advance(by: .seconds(1))
        central.scanForPeripherals(withServices: [CBUUID(string: service)])
        await world.advance(by: .seconds(2))
        return !app.peripherals.isEmpty
    }
}
