import BLESimulation
import CoreBluetooth

/// A benchmark of many machines with an app that advertises, and one machine whose app receives every advertisement.
///
/// Unlike ``Scale``, it includes the hosts, managers and delegates, and the time for which the world waits for apps.
enum Crowd {
    static func measure(machines: Int) -> Result { MainLoop.wait { await run(machines: machines) } }

    @MainActor
    private static func run(machines: Int) async -> Result {
        let seconds = max(1, 2_000 / (machines + 100)), setUp = Stopwatch(.wall), world = World(seed: 1)
        let apps = (0..<machines).map { number in
            world.machine("machine \(number)").inhabit { CrowdMember() }
        }
        let listener = world.machine("listener").inhabit { CrowdListener() }
        await world.advance(by: .seconds(2))
        let standing = setUp.seconds
        let before = listener.reports
        let processor = Stopwatch(.processor)
        await world.advance(by: .seconds(seconds))
        let taken = processor.seconds, reports = listener.reports - before
        let heard = listener.heard.count
        withExtendedLifetime(apps) {}
        return Result(
            workload: "crowd-\(machines)",
            explanation: "machines whose apps advertise, and one whose app scans",
            figures: [
                .init("machines", .count(machines)),
                .init("setup_seconds", .number(standing)),
                .init("simulated_seconds", .count(seconds)),
            ] + Result.pace(of: seconds, taking: taken, reports: reports) + [
                .init("hash", .text(String(world.traceHash, radix: 16)))
            ],
            isGood: heard == machines && reports >= machines * seconds
        )
    }
}

/// An app that advertises.
@MainActor
private final class CrowdMember: NSObject, @MainActor CBPeripheralManagerDelegate {
    private var manager: CBPeripheralManager?

    override init() {
        super.init()
        manager = CBPeripheralManager(delegate: self, queue: .main)
    }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        guard peripheral.state == .poweredOn else { return }
        peripheral.startAdvertising([
            CBAdvertisementDataServiceUUIDsKey: [CBUUID(string: "BE00")], CBAdvertisementDataLocalNameKey: "crowd",
        ])
    }
}

/// An app that receives every advertisement.
@MainActor
private final class CrowdListener: NSObject, @MainActor CBCentralManagerDelegate {
    private var manager: CBCentralManager?
    private(set) var reports = 0
    private(set) var heard: Set<UUID> = []

    override init() {
        super.init()
        manager = CBCentralManager(delegate: self, queue: .main)
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        guard central.state == .poweredOn else { return }
        central.scanForPeripherals(withServices: nil, options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
    }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        reports += 1
        heard.insert(peripheral.identifier)
    }
}
