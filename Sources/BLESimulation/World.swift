package import BLERuntime
import BLEWire
import Synchronization

/// A place with Bluetooth machines in it, where time passes only when it is told to.
///
/// A world holds whole Bluetooth hosts, a virtual controller for each, and the air between them. Apps that were written
/// for real machines run in it unchanged: a manager that is created within `inhabit(_:)` finds the radio of that
/// world instead of the computer's own. Every random choice follows from one seed, so that a run is a function of the
/// seed and of what the apps do; two worlds never meet, so tests run side by side.
///
/// ```swift
/// let world = World(seed: 7, conditions: .init(loss: 0.3))
/// let phone = world.machine("phone"), sensor = world.machine("sensor", at: .init(x: 3))
/// let thermometer = sensor.inhabit { Thermometer() }
/// let reader = phone.inhabit { Reader() }
/// await world.advance(by: .seconds(10))
/// #expect(reader.values == thermometer.values)
/// ```
///
/// Methods may be called from any thread; ``advance(by:)`` by one task at a time.
public final class World: Sendable {
    /// What the air does to the packets in it.
    public struct Conditions: Hashable, Sendable {
        /// The share of packets that is lost on the air, from 0 to 1, beyond what distance does.
        ///
        /// A connection sends what was lost again, so that data arrive late instead of never; advertisements are gone.
        public var loss: Double

        /// Creates conditions.
        public init(loss: Double = 0) { self.loss = loss }
    }

    /// Where a machine is, in metres.
    ///
    /// Signals weaken with distance: a few metres are a good connection, some tens a bad one, and a hundred none.
    public struct Position: Hashable, Sendable {
        /// Metres to the east.
        public var x: Double
        /// Metres to the north.
        public var y: Double
        /// Metres up.
        public var z: Double

        /// Creates a position; the middle of the world by default.
        public init(x: Double = 0, y: Double = 0, z: Double = 0) {
            self.x = x
            self.y = y
            self.z = z
        }
    }

    let core: Locked<WorldCore>
    let realTime = Locked<RealTimeClock?>(nil)
    let holds = Holds()

    /// Creates an empty world in which every random choice follows from `seed`.
    public init(seed: UInt64, conditions: Conditions = Conditions()) {
        core = Locked(WorldCore(seed: seed, loss: conditions.loss))
        Self.living.add(1, ordering: .relaxed)
    }

    deinit { Self.living.subtract(1, ordering: .relaxed) }

    /// How many worlds there are in this process.
    static var count: Int { living.load(ordering: .relaxed) }
    private static let living = Atomic(0)

    /// The machine called `name`, which is made if it is not there yet.
    ///
    /// - Parameters:
    ///   - name: Its name, which also decides its address and its random choices, along with the seed.
    ///   - position: Where it is when it is made; a machine that is there already stays where it is.
    ///   - mtu: The largest ATT packet that it takes, in octets, 23 to 517, when it is made; as large as can be if
    ///     `nil`. Phones take 185 or 517, some old devices 23.
    ///   - connectionInterval: How often the ends of the links meet that the machine makes as a central, 7.5 ms to 4 s
    ///     in steps of 1.25 ms (connInterval: Core 6.0, Vol 6, Part B, 4.5.1), until a peripheral asks for something
    ///     else; 15 ms to 30 ms, from which the controller chooses, if `nil`.
    ///   - peripheralLatency: How many of these meetings the peripheral may leave out while it has nothing to say, 0 to
    ///     499 (connPeripheralLatency, in the same place).
    /// - Returns: The one machine of that name.
    /// - Precondition: The interval and the latency are in their ranges, and `(1 + peripheralLatency) *
    ///   connectionInterval` is less than 16 s: links are given up after at most 32 s of silence.
    public func machine(
        _ name: String,
        at position: Position = Position(),
        mtu: Int? = nil,
        connectionInterval: Duration? = nil,
        peripheralLatency: Int = 0
    ) -> Machine {
        let pace = WorldCore.Pace(interval: connectionInterval, latency: peripheralLatency)
        let index = core.withLock { $0.machine(name, at: position, mtu: mtu, pace: pace) }
        nudge()
        return Machine(name: name, index: index, world: self)
    }

    /// Puts a device into the world that does what its description says, without an app.
    ///
    /// - Returns: The machine that the device is, to move it or to take its radio away.
    /// - Precondition: The description is valid: ``SimulatedPeripheral/validate()`` throws nothing.
    @discardableResult
    public func place(_ peripheral: SimulatedPeripheral) -> Machine {
        peripheral.requireValid()
        let index = core.withLock { $0.place(peripheral) }
        nudge()
        return Machine(name: peripheral.name, index: index, world: self)
    }

    /// Runs `body` with the machine called "phone" as the one that new managers use.
    ///
    /// - Precondition: No device is called so, since it would not hear itself; an app has another machine then:
    ///   `world.machine("tablet").inhabit { … }`.
    public func inhabit<Result>(_ body: () async throws -> Result) async rethrows -> Result {
        try await ownMachine().inhabit(body)
    }

    /// Runs `body` with the machine called "phone" as the one that new managers use.
    ///
    /// - Precondition: No device is called so, since it would not hear itself; an app has another machine then:
    ///   `world.machine("tablet").inhabit { … }`.
    public func inhabit<Result>(_ body: () throws -> Result) rethrows -> Result {
        try ownMachine().inhabit(body)
    }

    /// What the machine is called on which apps are of which nobody says where they are.
    static let appMachine = "phone"

    private func ownMachine() -> Machine {
        let isDevice = core.withLock { core in
            core.devices.contains { core.stations[$0.station].name == Self.appMachine }
        }
        precondition(!isDevice, "a device is called “phone”: have the app live in another machine, as a “tablet”")
        return machine(Self.appMachine)
    }

    /// How old the world is.
    public var now: Duration { core.withLock { $0.now - Instant() } }

    /// What the air does from now on.
    public var conditions: Conditions {
        get { core.withLock { Conditions(loss: $0.loss) } }
        set { core.withLock { $0.loss = newValue.loss } }
    }

    /// A digest of every packet that has passed between a host and its controller, with its time.
    ///
    /// Two runs with the same seed have the same one, in whatever process; if they do not, an app has asked for
    /// something at a time of its own.
    public var traceHash: UInt64 { core.withLock { $0.trace.value } }

    /// Lets no packet pass between two machines, however near they are, until ``rejoin(_:_:)``.
    public func separate(_ one: Machine, _ other: Machine) {
        tell(.setApart(one.index, other.index, true))
    }

    /// Lets packets pass between two machines again.
    public func rejoin(_ one: Machine, _ other: Machine) {
        tell(.setApart(one.index, other.index, false))
    }

    /// Has `tap` hear of every HCI packet from now on.
    package func observe(_ tap: @escaping PacketTap) { core.withLock { $0.tap = tap } }

    /// The machine with an index.
    func machine(at index: Int) -> Machine {
        Machine(name: core.withLock { $0.stations[index].name }, index: index, world: self)
    }

    /// What a session's app finds when it looks for a host.
    func link(of session: WorldSession) -> any HostLink {
        let machine = machine(at: session.machine)
        guard session.app > 0 else { return machine }
        let name = core.withLock { $0.stations[session.machine].apps[session.app].name }
        return Machine.App(name: name, index: session.app, on: machine)
    }

    /// Hands `action` to the world, which hears it before any more time passes.
    func tell(_ action: WorldAction) {
        let isOutOfTurn = !AppQueue.isCurrent
        change { $0.tell(action, isOutOfTurn: isOutOfTurn) }
    }

    /// Has something happen at this instant.
    func change(_ body: (inout WorldCore) -> Void) {
        core.withLock { body(&$0) }
        nudge()
    }
}
