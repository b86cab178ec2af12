import BLESimulation
import CoreBluetooth

/// A benchmark of a machine with as many links as there can be.
///
/// An app connects to one device more than the machine has links, and subscribes to a value of each, sent once a
/// second. The connection to the last device fails at first. The app requests it again, and gets it after disconnecting
/// from another device.
enum Links {
    /// The intended number of links.
    static let goal = 250
    private static let limit = Duration.seconds(120)

    static func measure() -> Result { MainLoop.wait { await run() } }

    @MainActor
    private static func run() async -> Result {
        let world = World(seed: 1), memory = Memory.residentKiB
        for number in 0...goal {
            var device = SimulatedPeripheral(
                name: "Sensor \(number)",
                services: [.init("180D", [.init("2A37", [.notify], notifies: .init(every: .seconds(1), [[0, 60]]))])]
            )
            device.advertisingInterval = .milliseconds(100)
            world.place(device)
        }
        await world.advance(by: .seconds(1))
        let withDevices = Memory.residentKiB
        let app = world.machine("phone", at: .init(x: 2)).inhabit { LinksApp(in: world) }
        let isSubscribed = await world.advance(atMost: limit) { app.subscribed.count == goal && app.refusals == 1 }
        let subscribed = app.age
        app.requestAgain()
        await world.advance(by: .seconds(1))
        let before = app.values
        let processor = Stopwatch(.processor)
        await world.advance(by: .seconds(10))
        let taken = processor.seconds, values = app.values - before
        let withLinks = Memory.residentKiB
        app.leaveOne()
        let isServed = await world.advance(atMost: limit) { app.subscribed.count == goal + 1 }
        return Result(
            workload: "links",
            explanation: "links of one machine, each with a subscription",
            figures: [
                .init("links", .count(app.mostLinks)),
                .init("goal_links", .count(goal)),
                .init("subscribed_ms", .number(subscribed / .milliseconds(1))),
                .init("refusals", .count(app.refusals)),
                .init("next_link_ms", .number((app.age - app.left) / .milliseconds(1))),
                .init("values_in_10_s", .count(values)),
                .init("us_per_value", .number(taken * 1e6 / Double(max(values, 1)))),
                .init("kib_per_device", .number(Double(withDevices - memory) / Double(goal + 1))),
                .init("kib_per_link", .number(Double(withLinks - withDevices) / Double(goal))),
            ],
            isGood: isSubscribed && isServed && app.refusals == 1 && app.mostLinks == goal && values >= goal * 9
        )
    }
}

/// An app that connects to every device it finds, and subscribes to its value.
@MainActor
private final class LinksApp: NSObject {
    private static let service = CBUUID(string: "180D"), value = CBUUID(string: "2A37")
    private let world: World
    private let begin: Duration
    private var manager: CBCentralManager!
    private var devices: [CBPeripheral] = []
    private var refused: CBPeripheral?
    private(set) var subscribed: Set<UUID> = []
    private(set) var values = 0
    private(set) var refusals = 0
    private(set) var mostLinks = 0
    private(set) var left = Duration.zero

    init(in world: World) {
        self.world = world
        begin = world.now
        super.init()
        manager = CBCentralManager(delegate: self, queue: .main)
    }

    /// The time since the app started.
    var age: Duration { world.now - begin }

    func requestAgain() { if let refused { manager.connect(refused) } }

    func leaveOne() {
        left = age
        if let device = devices.first(where: { $0.state == .connected }) { manager.cancelPeripheralConnection(device) }
    }
}

extension LinksApp: @MainActor CBCentralManagerDelegate {
    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        if central.state == .poweredOn { central.scanForPeripherals(withServices: [Self.service]) }
    }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        devices.append(peripheral)
        peripheral.delegate = self
        central.connect(peripheral)
        if devices.count > Links.goal { central.stopScan() }
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        mostLinks = max(mostLinks, devices.count { $0.state == .connected })
        peripheral.discoverServices([Self.service])
    }

    func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?) {
        guard (error as? CBError)?.code == .connectionLimitReached else { return }
        refusals += 1
        refused = peripheral
    }
}

extension LinksApp: @MainActor CBPeripheralDelegate {
    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        for service in peripheral.services ?? [] { peripheral.discoverCharacteristics([Self.value], for: service) }
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didDiscoverCharacteristicsFor service: CBService,
        error: (any Error)?
    ) {
        for value in service.characteristics ?? [] { peripheral.setNotifyValue(true, for: value) }
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        if error == nil, characteristic.isNotifying { subscribed.insert(peripheral.identifier) }
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor item: CBCharacteristic, error: (any Error)?) {
        if error == nil { values += 1 }
    }
}
