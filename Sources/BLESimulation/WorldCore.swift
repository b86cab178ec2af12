import BLEController
import BLEHost
import BLERuntime
import BLEWire
import Dispatch

/// The complete mutable state of a world.
///
/// It contains the stations with their hosts and apps, the air, the pending faults and the story, and advances them
/// from event to event.
///
/// It is used by one thread at a time, and never blocks.
struct WorldCore: ~Copyable {
    /// The time for which a controller must be gone before its host is told.
    static let absence = Duration.seconds(1)
    /// The minimum ATT MTU, in octets: Core 6.0, Vol 3, Part G, 5.2.1.
    private static let leastMTU = 23
    /// The time for which a controller is off during a reset by its host.
    static let restart = Duration.milliseconds(100)

    let seed: UInt64
    /// The pairs of machines that do not receive each other.
    var apart: [(Int, Int)] = []
    var now = Instant()
    var air: Air
    var stations: [MachineState] = []
    /// The station of each controller that has ever existed.
    var owners: [Int] = []
    /// One per client, `nil` for those that are gone; scripted clients have a device instead.
    var clients: [WorldClient] = []
    var devices: [ScriptedDevice] = []
    var inbox: [WorldAction] = []
    /// The number of requests since the beginning.
    private(set) var requestCount = 0
    /// The number of events since a request came from outside of the apps' queues.
    var calmness = 0
    /// The undelivered events.
    var deliveries: [(client: Int, event: ClientEvent)] = []
    /// The managers whose sessions go on when their app has ended, in the order in which they were made.
    var restorable: [RestorableRole] = []
    /// The waiting tasks and calls.
    var sleepers = TimerQueue()
    /// The machines whose apps must be launched.
    var launches: [Int] = []
    /// The deadlines of all stations, as of their last activity, and of all devices.
    var stationDeadlines = DeadlineTree()
    var deviceDeadlines = DeadlineTree()
    /// The stations whose hosts may have actions.
    var dirty: [Int] = []
    /// The scheduled actions.
    var agenda = Agenda()
    /// The planned faults.
    var faultPlan = FaultPlan()
    /// The recent events.
    var story = Story()
    /// The findings.
    var findings: [World.Finding] = []
    /// The connections of apps.
    var connections: [AppConnection] = []
    /// The number of background tasks so far.
    var taskCount = 0
    /// The capture file.
    var capture: CaptureFile?
    /// The log of packets, calls and callbacks, if it was requested.
    var log = TrafficLog()
    /// The words for what apps ask and hear, where that is written down.
    var transcript = Transcript()
    /// True if what apps ask for and hear is written down as it happens.
    var isWrittenDown: Bool { capture != nil || log != nil }
    var trace = TraceHash()
    var tap: PacketTap?

    init(seed: UInt64, loss: Double) {
        self.seed = seed
        air = Air(seed: seed, conditions: .init(loss: loss))
    }

    var loss: Double {
        get { air.conditions.loss }
        set { air.conditions.loss = newValue }
    }

    /// Returns the index of the machine called `name`, creating it if necessary.
    mutating func machine(_ name: String, at position: World.Position, mtu: Int? = nil, pace: Pace = .init()) -> Int {
        if let index = stations.firstIndex(where: { $0.name == name }) { return index }
        let index = stations.count
        var random = SeededGenerator(seed: seed ^ Self.digest(name))
        let identity = ControllerIdentity(
            address: DeviceAddress(random.next() << 16 | UInt64(index & 0xFFFF), .public),
            position: Position(position)
        )
        let configuration = Host.Configuration(
            name: name,
            identifierSecret: UInt128(random.next()) << 64 | UInt128(random.next()),
            preferredMTU: min(max(mtu ?? ATT.maximumMTU, Self.leastMTU), ATT.maximumMTU),
            connectionInterval: pace.interval,
            peripheralLatency: pace.latency
        )
        let host = Host(configuration: configuration, random: random)
        let controller = air.add(identity)
        owners.append(index)
        let station = MachineState(
            name: name,
            identity: identity,
            configuration: configuration,
            host: host,
            controller: controller
        )
        stations.append(station)
        keepApart(index)
        station.host.transportOpened(at: now)
        markDirty(index)
        return index
    }

    /// The connection interval of links that a machine creates.
    struct Pace {
        /// `nil` for the host's choice.
        var interval: ConnectionInterval?
        var latency = PeripheralLatency.none
        /// The host's choice.
        init() {}

        /// Creates it from a test's arguments.
        init(interval: Duration?, latency: Int) {
            if let interval {
                let range = ConnectionInterval.shortest.duration...ConnectionInterval.longest.duration
                precondition(range.contains(interval), "connection intervals are 7.5 ms to 4 s")
                self.interval = try? ConnectionInterval(noLongerThan: interval)
            }
            guard let skipped = UInt16(exactly: latency).flatMap(PeripheralLatency.init(wire:)) else {
                preconditionFailure("the peripheral latency is 0 to 499")
            }
            self.latency = skipped
            let longest = self.interval?.duration ?? .milliseconds(30)
            precondition(longest * (1 + latency) < .seconds(16), "connection events must be less than 16 s apart")
        }
    }

    /// True if an app has made a manager, even if there is none any more.
    var hasHadApps: Bool { clients.contains { if case .device = $0 { false } else { true } } }

    /// The next client.
    var nextClient: ClientID { ClientID(rawValue: clients.count) }

    /// Adds a client, which the host gets when the world processes its actions.
    mutating func open(_ session: WorldSession) -> ClientID {
        let client = nextClient
        clients.append(.app(session))
        tell(.open(client, session.role))
        return client
    }

    /// Adds a scripted device, which starts when the world continues.
    mutating func place(_ peripheral: SimulatedPeripheral) -> Int {
        let station = machine(peripheral.name, at: peripheral.position, mtu: peripheral.mtu)
        let client = ClientID(rawValue: clients.count)
        clients.append(.device(devices.count))
        devices.append(ScriptedDevice(peripheral, station: station, client: client))
        tell(.open(client, .peripheral))
        return station
    }

    /// Processes an action before any more time passes.
    mutating func tell(_ action: WorldAction, isOutOfTurn: Bool = false) {
        inbox.append(action)
        requestCount += 1
        if isOutOfTurn { calmness = 0 }
    }

    /// The queues of apps with managers.
    var appQueues: [AppQueue] {
        clients.compactMap { client in
            if case .app(let session) = client { session.appQueue } else { nil }
        }
    }

    mutating func markDirty(_ station: Int) {
        guard !stations[station].isDirty else { return }
        stations[station].isDirty = true
        dirty.append(station)
    }

    /// Returns the station of a client; `nil` if the client is gone.
    func station(of client: ClientID) -> Int? {
        switch clients[client.rawValue] {
        case .app(let session): session.machine
        case .device(let index), .deviceAgent(let index): devices[index].station
        case .ended, .relaunched, .gone: nil
        }
    }

    /// Returns a number for a name, the same in every process.
    static func digest(_ name: String) -> UInt64 {
        name.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}

/// The owner of a host session in a world.
enum WorldClient {
    case app(WorldSession)
    /// A scripted device, by its index.
    case device(Int)
    /// The session for pairing of the scripted device with this index.
    case deviceAgent(Int)
    /// An app that has ended, whose session waits for its next launch.
    case ended
    /// An app that was launched again, with the client that has its session now.
    case relaunched(ClientID)
    case gone
}

extension Position {
    init(_ position: World.Position) { self.init(x: position.x, y: position.y, z: position.z) }
}
