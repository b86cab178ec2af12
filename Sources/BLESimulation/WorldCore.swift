import BLEController
import BLEHost
import BLERuntime
import BLEWire
import Dispatch

/// The complete mutable state of a world.
///
/// It contains the machines (the stations) with their hosts and apps, the air, the pending faults and the story, and
/// advances all of them from event to event.
///
/// Only one thread uses it at a time, and it never blocks.
struct WorldCore: ~Copyable {
    /// The time for which a controller must be unplugged before the world reports its absence to the host.
    static let absence = Duration.seconds(1)
    /// The minimum ATT MTU, in octets: Core 6.0, Vol 3, Part G, 5.2.1.
    private static let leastMTU = 23
    /// The time for which a controller is off when it is reset.
    static let restart = Duration.milliseconds(100)

    let seed: UInt64
    /// The pairs of machines that a test has separated.
    var separated: [(Int, Int)] = []
    /// True if a fault has ever isolated a machine.
    var hasIsolated = false
    var now = Instant()
    var air: Air
    var stations: [MachineState] = []
    /// The machines by name and address.
    private(set) var directory = MachineDirectory()
    /// The index of each controller's station, for all controllers that have ever existed.
    var owners: [Int] = []
    /// The owners of all clients that hosts have ever had; the index is the number of the client.
    var clients: [WorldClient] = []
    var devices: [ScriptedDevice] = []
    var inbox: [WorldAction] = []
    /// The number of actions that have been queued so far.
    private(set) var requestCount = 0
    /// The number of deliveries since the last request from outside of the apps' queues.
    var deliveriesSinceRequest = 0
    /// The events that have not been delivered to apps yet.
    var deliveries: [(client: Int, event: ClientEvent)] = []
    /// The sessions of managers with a restore identifier, which continue after the app has ended, in the order of
    /// their creation.
    var restorable: [RestorableRole] = []
    /// The tasks and calls that wait for a time.
    var timers = TimerQueue()
    /// The machines whose apps must be launched.
    var launches: [Int] = []
    /// The deadlines of all stations, as of their last activity.
    var stationDeadlines = DeadlineTree()
    /// The deadlines of all scripted devices.
    var deviceDeadlines = DeadlineTree()
    /// The stations whose hosts may have output that has not been taken.
    var dirty: [Int] = []
    /// The actions that are scheduled for a time.
    var agenda = Agenda()
    /// The faults that are planned for a packet or a step.
    ///
    /// Faults that are planned for a time are in ``agenda``.
    var faultPlan = FaultPlan()
    /// The recent events, for ``World/story``.
    var story = Story()
    /// The recording for ``World/page``; `nil` if ``World/recordPage()`` was not called.
    var recorder: PageRecorder?
    /// The findings of all apps, oldest first.
    var findings: [World.Finding] = []
    /// The connections that were reported to apps and have not ended.
    var connections: [AppConnection] = []
    /// The number of background tasks so far.
    var taskCount = 0
    /// The file to which packets are captured; `nil` if there is none.
    var capture: CaptureFile?
    /// The log of packets, calls and callbacks; `nil` if the log level is above `debug`.
    var log = TrafficLog()
    /// The text form of apps' requests and events, for the capture and the log.
    var transcript = Transcript()
    /// True if apps' requests and events are written to a capture or log as they happen.
    var logsCalls: Bool { capture != nil || log != nil }
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
    ///
    /// If `address` is `nil`, a new machine has a public address that follows from its name and the seed.
    mutating func machine(
        _ name: String,
        at position: World.Position,
        mtu: Int? = nil,
        pace: LinkTiming = .init(),
        maximumConnections: Int = ControllerIdentity.standardConnections,
        address: DeviceAddress? = nil,
        passkey: Int? = nil
    ) -> Int {
        if let index = directory.index(of: name) { return index }
        let index = stations.count
        var random = SeededGenerator(seed: seed ^ Self.digest(name))
        var publicAddress = DeviceAddress(random.next() << 16 | UInt64(index & 0xFFFF), .public)
        if let address, address.kind == .public { publicAddress = address }
        while !directory.isAvailable(publicAddress, to: name) {
            publicAddress = DeviceAddress(random.next(), .public)
        }
        let staticAddress = address?.kind == .random ? address : nil
        let identity = ControllerIdentity(
            address: publicAddress,
            position: Position(position),
            maximumConnections: maximumConnections
        )
        var configuration = Host.Configuration(
            name: name,
            identifierSecret: UInt128(random.next()) << 64 | UInt128(random.next()),
            preferredMTU: min(max(mtu ?? ATT.maximumMTU, Self.leastMTU), ATT.maximumMTU),
            connectionInterval: pace.interval,
            peripheralLatency: pace.latency,
            staticAddress: staticAddress
        )
        configuration.pairing.passkey = passkey.map { UInt32(clamping: $0) }
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
        directory.add(name, at: index, addresses: [publicAddress] + [staticAddress].compactMap(\.self))
        separate(index)
        station.host.transportOpened(at: now)
        markDirty(index)
        return index
    }

    /// The connection interval and latency of the links that a machine creates as a central.
    struct LinkTiming {
        /// The connection interval; `nil` to let the host choose.
        var interval: ConnectionInterval?
        var latency = PeripheralLatency.none
        /// Creates a timing with a latency of 0 and an interval that the host chooses.
        init() {}

        /// Creates a timing from the arguments of a test; arguments that are out of range end the process.
        init(interval: Duration?, latency: Int) {
            if let interval {
                let range = ConnectionInterval.shortest.duration...ConnectionInterval.longest.duration
                precondition(range.contains(interval), "a connection interval must be 7.5 ms to 4 s, not \(interval)")
                self.interval = try? ConnectionInterval(noLongerThan: interval)
            }
            guard let skipped = UInt16(exactly: latency).flatMap(PeripheralLatency.init(wire:)) else {
                preconditionFailure("the peripheral latency must be 0 to 499, not \(latency)")
            }
            self.latency = skipped
            let longest = self.interval?.duration ?? .milliseconds(30)
            precondition(
                longest * (1 + latency) < .seconds(16),
                "(1 + peripheralLatency) * connectionInterval must be less than 16 s"
            )
        }
    }

    /// True if an app has ever created a manager.
    var hasHadApps: Bool {
        clients.contains {
            switch $0 {
            case .device, .deviceAgent: false
            case .app, .ended, .relaunched, .gone: true
            }
        }
    }

    /// The identifier of the client that will be added next.
    var nextClient: ClientID { ClientID(rawValue: clients.count) }

    /// Adds a client for a manager.
    ///
    /// The host opens the client's session when the world processes its queued actions.
    mutating func open(_ session: WorldSession) -> ClientID {
        let client = nextClient
        clients.append(.app(session))
        enqueue(.open(client, session.role))
        return client
    }

    /// Reserves the explicit addresses of devices that will be placed, so that no other machine gets one of them.
    mutating func reserveAddresses(of peripherals: [SimulatedPeripheral]) {
        for peripheral in peripherals {
            if let address = peripheral.address { directory.reserve(address.device, for: peripheral.name) }
        }
    }

    /// Adds a scripted device, which starts when the world processes its queued actions.
    ///
    /// Returns the index of the device's machine.
    mutating func place(_ peripheral: SimulatedPeripheral) -> Int {
        let name = peripheral.name, address = peripheral.address?.device
        if let address, let owner = directory.owner(of: address), owner != name {
            preconditionFailure("“\(name)” cannot have the address \(address), because “\(owner)” has it")
        }
        let isTaken = devices.contains { stations[$0.station].name == name }
        precondition(!isTaken, "a device is already named “\(name)”; each device of a world needs its own name")
        let station = machine(
            name,
            at: peripheral.position,
            mtu: peripheral.mtu,
            address: address,
            passkey: peripheral.pairing?.passkey
        )
        precondition(
            address == nil || directory.owner(of: address ?? .none) == name,
            "the machine “\(name)” already has another address; place the device before anything else uses its name"
        )
        let client = ClientID(rawValue: clients.count)
        clients.append(.device(devices.count))
        devices.append(ScriptedDevice(peripheral, station: station, client: client))
        enqueue(.open(client, .peripheral))
        return station
    }

    /// Queues an action, which is processed before any more time passes.
    ///
    /// `isOutOfTurn` is true if the action does not come from the queue of an app.
    mutating func enqueue(_ action: WorldAction, isOutOfTurn: Bool = false) {
        inbox.append(action)
        requestCount += 1
        if isOutOfTurn { deliveriesSinceRequest = 0 }
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

    /// Returns the index of the station of a client; `nil` if the client's app has ended or its session was closed.
    func station(of client: ClientID) -> Int? {
        switch clients[client.rawValue] {
        case .app(let session): session.machine
        case .device(let index), .deviceAgent(let index): devices[index].station
        case .ended, .relaunched, .gone: nil
        }
    }

    /// Returns a hash of a name; the hash is the same in every process.
    static func digest(_ name: String) -> UInt64 {
        name.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}

/// The owner of a host session in a world.
enum WorldClient {
    case app(WorldSession)
    /// A scripted device, by its index.
    case device(Int)
    /// The pairing session of the scripted device with this index.
    case deviceAgent(Int)
    /// An app that has ended. Its session continues, and waits for the next launch.
    case ended
    /// An app that has been launched again. The session now belongs to this client.
    case relaunched(ClientID)
    case gone
}

extension Position {
    init(_ position: World.Position) { self.init(x: position.x, y: position.y, z: position.z) }
}
