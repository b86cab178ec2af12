import BLESimulation
import CoreBluetooth

/// A benchmark of the time that a user waits until an app is subscribed to a value of a device that is not bonded.
///
/// A first connection is measured from the call to scan, a second one from the call to connect. The figure is the
/// median of the virtual times of 20 seeds, and repeats exactly.
struct FirstSubscription: Sendable {
    private static let seeds: Range<UInt64> = 1..<21
    private static let limit = Duration.seconds(10)

    /// The benchmarks of a first connection, for two common advertising intervals.
    static let first = [
        Self(isSecond: false, interval: .milliseconds(100), goal: 230),
        Self(isSecond: false, interval: .milliseconds(20), goal: 100),
    ]
    /// The benchmarks of a second connection to the same device, for the same advertising intervals.
    static let second = [
        Self(isSecond: true, interval: .milliseconds(100), goal: 120),
        Self(isSecond: true, interval: .milliseconds(20), goal: 120),
    ]

    let isSecond: Bool
    /// The advertising interval of the device.
    let interval: Duration
    /// The intended median, in milliseconds.
    let goal: Int

    func measure() -> Result { MainLoop.wait { await run() } }

    @MainActor
    private func run() async -> Result {
        var runs: [FirstSubscriptionApp.Times] = []
        for seed in Self.seeds {
            if let times = await times(seed: seed) { runs.append(times) }
        }
        let isComplete = runs.count == Self.seeds.count
        let median = Self.median(runs.map(\.subscribed))
        return Result(
            workload: "\(isSecond ? "reconnect" : "connect")-\(Int(interval / .milliseconds(1)))",
            explanation: isSecond ? "from connect to subscribed, at the second connection" : "from scan to subscribed",
            figures: [
                .init("seeds", .count(runs.count)),
                .init("discovered_ms", .number(Self.median(runs.map(\.discovered)))),
                .init("connected_ms", .number(Self.median(runs.map(\.connected)))),
                .init("subscribed_ms", .number(median)),
                .init("goal_ms", .count(goal)),
            ],
            isGood: isComplete
        )
    }

    /// Returns the times of one run; `nil` if the app was not subscribed in time.
    @MainActor
    private func times(seed: UInt64) async -> FirstSubscriptionApp.Times? {
        let world = World(seed: seed)
        var device = SimulatedPeripheral(
            name: "Sensor",
            services: [.init("180D", [.init("2A37", [.notify]), .init("2A38", [.read])])]
        )
        device.advertisingInterval = interval
        world.place(device)
        // The app starts at any time between two advertisements.
        await world.advance(by: .seconds(1) + interval * Int(seed) / Self.seeds.count)
        let app = world.machine("phone", at: .init(x: 2)).inhabit { FirstSubscriptionApp(in: world) }
        guard await world.advance(atMost: Self.limit, until: { app.times != nil }) else { return nil }
        guard isSecond else { return app.times }
        // Long enough for the host's own requests, and for the device to advertise again.
        await world.advance(by: .seconds(5))
        app.leave()
        await world.advance(by: .seconds(1) + .milliseconds(Int64(seed) * 7))
        app.returnToDevice()
        guard await world.advance(atMost: Self.limit, until: { app.times != nil }) else { return nil }
        return app.times
    }

    private static func median(_ values: [Duration]) -> Double {
        let sorted = values.sorted()
        guard !sorted.isEmpty else { return 0 }
        let (low, high) = (sorted[(sorted.count - 1) / 2], sorted[sorted.count / 2])
        return (low + high) / .milliseconds(2)
    }
}

/// An app that subscribes to the first value of the first device.
@MainActor
private final class FirstSubscriptionApp: NSObject {
    /// The times since the call that begins a run: to scan or, for a second connection, to connect.
    struct Times {
        let discovered: Duration, connected: Duration, subscribed: Duration
    }

    private static let service = CBUUID(string: "180D"), value = CBUUID(string: "2A37")
    private let world: World
    private var manager: CBCentralManager!
    private var device: CBPeripheral?
    private var begin = Duration.zero, discovered = Duration.zero, connected = Duration.zero
    /// The times of the current run; `nil` before the app is subscribed.
    private(set) var times: Times?

    init(in world: World) {
        self.world = world
        super.init()
        manager = CBCentralManager(delegate: self, queue: .main)
    }

    /// Ends the connection.
    func leave() {
        times = nil
        if let device { manager.cancelPeripheralConnection(device) }
    }

    /// Connects to the same device again.
    func returnToDevice() {
        (begin, discovered) = (world.now, world.now)
        if let device { manager.connect(device) }
    }
}

extension FirstSubscriptionApp: @MainActor CBCentralManagerDelegate {
    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        guard central.state == .poweredOn else { return }
        begin = world.now
        central.scanForPeripherals(withServices: [Self.service])
    }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        guard device == nil else { return }
        (device, discovered) = (peripheral, world.now)
        central.stopScan()
        central.connect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        connected = world.now
        peripheral.delegate = self
        peripheral.discoverServices([Self.service])
    }
}

extension FirstSubscriptionApp: @MainActor CBPeripheralDelegate {
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
        guard error == nil, characteristic.isNotifying else { return }
        times = Times(discovered: discovered - begin, connected: connected - begin, subscribed: world.now - begin)
    }
}
