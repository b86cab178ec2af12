import BLERuntime
import BLESimulation
import Testing

@testable import CoreBluetooth

@Suite("Apps' view of restoration")
struct RestorationBehaviourTests {
    /// An app that opts in, and takes for granted that it is only told when there is something.
    private final class Restored: NSObject, CBCentralManagerDelegate, CBPeripheralManagerDelegate {
        var calls: [String] = []
        func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
            calls.append("restore \(dict[CBCentralManagerRestoredStatePeripheralsKey]!)")
        }
        func centralManagerDidUpdateState(_ central: CBCentralManager) { calls.append("central state") }
        func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any]) {
            calls.append("restore \(dict[CBPeripheralManagerRestoredStateServicesKey]!)")
        }
        func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) { calls.append("server state") }
    }

    @Test(
        "An app that was not launched for restoration receives no state",
        .behaviour("4.8.9", "4.9.1"),
        arguments: [nil, "it"]
    )
    func fresh(identifier: String?) async {
        let bench = WorldBench(), app = Restored()
        // The key is the same in both roles.
        let options = identifier.map { [CBCentralManagerOptionRestoreIdentifierKey: $0] }
        let central = bench.lines.collect(bench.phone) {
            CBCentralManager(delegate: app, queue: DispatchQueue(label: "app"), options: options)
        }
        await bench.wait()
        let server = bench.lines.collect(bench.phone) {
            CBPeripheralManager(delegate: app, queue: DispatchQueue(label: "app"), options: options)
        }
        await bench.wait()
        #expect(app.calls == ["central state", "server state"])
        #expect((central.state, server.state) == (.poweredOn, .poweredOn))
        bench.phone.unplugRadio()
        await bench.wait()
        bench.phone.plugInRadio()
        await bench.wait()
        #expect(app.calls.allSatisfy { $0.hasSuffix("state") })
        #expect(bench.lines.take().isEmpty)
    }

    /// An app that only hears of states.
    private final class Forgetful: NSObject, CBCentralManagerDelegate, CBPeripheralManagerDelegate {
        func centralManagerDidUpdateState(_ central: CBCentralManager) {}
        func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {}
    }

    @Test("An app with a restore identifier but without the restoration method ends with an error", .behaviour("4.8.6"))
    func missing() async {
        let central = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let app = Forgetful(), options = [CBCentralManagerOptionRestoreIdentifierKey: "it"]
            let manager = Bluetooth.$link.withValue(UnsupportedLink()) {
                CBCentralManager(delegate: app, queue: nil, options: options)
            }
            manager.delegate?.centralManager(manager, willRestoreState: [:])
            exit(0)
        }
        #expect(complaint(central).contains("does not implement centralManager(_:willRestoreState:)"))
        let server = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let app = Forgetful(), options = [CBPeripheralManagerOptionRestoreIdentifierKey: "it"]
            let manager = Bluetooth.$link.withValue(UnsupportedLink()) {
                CBPeripheralManager(delegate: app, queue: nil, options: options)
            }
            manager.delegate?.peripheralManager(manager, willRestoreState: [:])
            exit(0)
        }
        #expect(complaint(server).contains("does not implement peripheralManager(_:willRestoreState:)"))
    }

    @Test("A world lists the missing method as a finding instead, and the app continues", .behaviour("4.8.6"))
    func listed() {
        let app = Forgetful(), world = World(seed: 1), options = [CBCentralManagerOptionRestoreIdentifierKey: "it"]
        let central = world.inhabit { CBCentralManager(delegate: app, queue: nil, options: options) }
        central.delegate?.centralManager(central, willRestoreState: [:])
        let server = world.machine("pad").inhabit { CBPeripheralManager(delegate: app, queue: nil, options: options) }
        server.delegate?.peripheralManager(server, willRestoreState: [:])
        #expect(world.findings.map(\.rule) == [.missingRestoration, .missingRestoration])
        #expect(world.findings.map(\.machine) == ["phone", "pad"])
        #expect(world.findings.first?.sentence.contains("centralManager(_:willRestoreState:)") == true)
    }

    @Test("Without a restore identifier the method may be missing", .behaviour("4.8.6"))
    func notMissed() {
        let app = Forgetful(), world = World(seed: 1)
        let central = world.inhabit { CBCentralManager(delegate: app, queue: nil) }
        let server = world.inhabit { CBPeripheralManager(delegate: app, queue: nil) }
        central.delegate?.centralManager(central, willRestoreState: [:])
        server.delegate?.peripheralManager(server, willRestoreState: [:])
        #expect((central.state, server.state) == (.unknown, .unknown))
        #expect(world.findings.isEmpty)
    }
}
