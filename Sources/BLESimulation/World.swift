package import BLERuntime
import BLEWire
import Synchronization

/// A simulated place with Bluetooth machines, where time passes only on request.
///
/// A world contains complete Bluetooth hosts, a virtual controller for each, and the air between them. Apps written for
/// real machines run in it unchanged: a manager created within `inhabit(_:)` uses the radio of that world instead of
/// the computer's. All random choices follow from one seed, so a run depends only on the seed and the apps. Worlds are
/// independent of each other, so tests can run in parallel.
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
/// Methods can be called from any thread, but only one task at a time may call ``advance(by:)``.
public final class World: Sendable {
    /// The conditions of the air.
    public struct Conditions: Hashable, Sendable {
        /// The share of packets that are lost on the air, from 0 to 1, in addition to losses due to distance.
        ///
        /// Connections retransmit lost packets, so data arrives late instead of never. Lost advertisements are not
        /// repeated.
        public var loss: Double

        /// Creates conditions.
        public init(loss: Double = 0) { self.loss = loss }
    }

    /// The position of a machine, in metres.
    ///
    /// Signals weaken with distance: at a few metres a connection is good, at some tens of metres it is bad, and at a
    /// hundred metres there is none.
    public struct Position: Hashable, Sendable {
        /// Metres to the east.
        public var x: Double
        /// Metres to the north.
        public var y: Double
        /// Metres up.
        public var z: Double

        /// Creates a position; the origin by default.
        public init(x: Double = 0, y: Double = 0, z: Double = 0) {
            self.x = x
            self.y = y
            self.z = z
        }
    }

    let core: Locked<WorldCore>
    let realTime = Locked<RealTimeClock?>(nil)
    let holds = TimeHolds()

    /// Creates an empty world whose random choices follow from `seed`.
    public init(seed: UInt64, conditions: Conditions = Conditions()) {
        core = Locked(WorldCore(seed: seed, loss: conditions.loss))
        Self.living.add(1, ordering: .relaxed)
    }

    deinit { Self.living.subtract(1, ordering: .relaxed) }

    /// The number of worlds in this process.
    static var count: Int { living.load(ordering: .relaxed) }
    private static let living = Atomic(0)

    /// Returns the machine called `name`, creating it if necessary.
    ///
    /// - Parameters:
    ///   - name: The name. Together with the seed, it determines the address of the machine and its random choices.
    ///   - position: The initial position; an existing machine keeps its position.
    ///   - mtu: The ATT MTU that the machine offers, in octets, 23 to 517; `nil` for the maximum. Phones use 185 or
    ///     517, some old devices 23.
    ///   - connectionInterval: The connection interval for links that the machine creates as a central, 7.5 ms to 4 s
    ///     in steps of 1.25 ms (Core 6.0, Vol 6, Part B, 4.5.1), until a peripheral requests another; `nil` for 7.5 ms
    ///     at first, and then 15 ms to 30 ms, from which the controller chooses.
    ///   - peripheralLatency: The number of connection events that the peripheral may skip while it has no data, 0 to
    ///     499 (connPeripheralLatency, in the same section).
    ///   - maximumConnections: The number of connections that the machine's controller supports, in both roles, 1 to
    ///     250. Many real ones support 8 to 32. An app's further connections fail with
    ///     `CBError.connectionLimitReached`.
    /// - Returns: The machine with that name.
    /// - Precondition: All values are in their ranges, and `(1 + peripheralLatency) * connectionInterval` is less than
    ///   16 s, because a link is lost after at most 32 s without a packet.
    public func machine(
        _ name: String,
        at position: Position = Position(),
        mtu: Int? = nil,
        connectionInterval: Duration? = nil,
        peripheralLatency: Int = 0,
        maximumConnections: Int = 250
    ) -> Machine {
        precondition(
            (1...250).contains(maximumConnections),
            "maximumConnections must be 1 to 250, not \(maximumConnections)"
        )
        let pace = WorldCore.LinkTiming(interval: connectionInterval, latency: peripheralLatency)
        let index = withCore { core in
            core.machine(name, at: position, mtu: mtu, pace: pace, maximumConnections: maximumConnections)
        }
        nudge()
        return Machine(name: name, index: index, world: self)
    }

    /// Places a device in the world; the device behaves as described, without an app.
    ///
    /// - Returns: The device's machine, with which a test can move the device or remove its radio.
    /// - Precondition: The description is valid: ``SimulatedPeripheral/validate()`` does not throw. No other device has
    ///   the device's name, and no other machine has its address.
    @discardableResult
    public func place(_ peripheral: SimulatedPeripheral) -> Machine {
        peripheral.requireValid()
        let index = withCore { $0.place(peripheral) }
        nudge()
        return Machine(name: peripheral.name, index: index, world: self)
    }

    /// Runs `body`; the managers that `body` creates use the machine called "phone".
    ///
    /// - Precondition: No device is called "phone", because an app does not receive the advertisements of its own
    ///   machine. If a device has this name, use another machine for the app: `world.machine("tablet").inhabit { … }`.
    public func inhabit<Result>(_ body: () async throws -> Result) async rethrows -> Result {
        try await ownMachine().inhabit(body)
    }

    /// Runs `body`; the managers that `body` creates use the machine called "phone".
    ///
    /// - Precondition: No device is called "phone", because an app does not receive the advertisements of its own
    ///   machine. If a device has this name, use another machine for the app: `world.machine("tablet").inhabit { … }`.
    public func inhabit<Result>(_ body: () throws -> Result) rethrows -> Result {
        try ownMachine().inhabit(body)
    }

    /// The name of the machine that apps run on unless they are placed on another machine.
    static let appMachine = "phone"

    private func ownMachine() -> Machine {
        let isDevice = core.withLock { core in
            core.devices.contains { core.stations[$0.station].name == Self.appMachine }
        }
        precondition(!isDevice, "a device is named “phone”; put the app into another machine, such as “tablet”")
        return machine(Self.appMachine)
    }

    /// The age of the world.
    public var now: Duration { withCore { $0.now - Instant() } }

    /// The conditions of the air.
    public var conditions: Conditions {
        get { core.withLock { Conditions(loss: $0.loss) } }
        set { core.withLock { $0.loss = newValue.loss } }
    }

    /// A digest of all packets between hosts and controllers with their times.
    ///
    /// Two runs with the same seed have the same digest, even in different processes, unless an app makes a request at
    /// a time that depends on the computer.
    public var traceHash: UInt64 { core.withLock { $0.trace.value } }

    /// Prevents all packets between two machines, regardless of their distance, until ``rejoin(_:_:)`` is called.
    public func separate(_ one: Machine, _ other: Machine) {
        enqueue(.setSeparated(one.index, other.index, true))
    }

    /// Allows packets between two machines again.
    public func rejoin(_ one: Machine, _ other: Machine) {
        enqueue(.setSeparated(one.index, other.index, false))
    }

    /// Passes every HCI packet to `tap` from now on.
    package func observe(_ tap: @escaping PacketTap) { core.withLock { $0.tap = tap } }

    /// Returns the machine at `index`.
    func machine(at index: Int) -> Machine {
        Machine(name: core.withLock { $0.stations[index].name }, index: index, world: self)
    }

    /// Returns the link for managers that a session's app creates.
    func link(of session: WorldSession) -> any HostLink {
        let machine = machine(at: session.machine)
        guard session.app > 0 else { return machine }
        let name = core.withLock { $0.stations[session.machine].apps[session.app].name }
        return Machine.App(name: name, index: session.app, on: machine)
    }

    /// Queues an action, which the world processes before any more time passes.
    func enqueue(_ action: WorldAction) {
        let isOutOfTurn = !AppQueue.isCurrent
        change { $0.enqueue(action, isOutOfTurn: isOutOfTurn) }
    }

    /// Changes the world at the current instant with `body`.
    ///
    /// In real time, the world then processes its queued actions soon.
    func change(_ body: (inout WorldCore) -> Void) {
        withCore { body(&$0) }
        nudge()
    }

    /// Calls `body` with the state of the world at the current instant.
    ///
    /// In real time, first advances the world's time to the current age, because a world with nothing to do takes no
    /// turns.
    func withCore<Result>(_ body: (inout WorldCore) -> sending Result) -> sending Result {
        let age = realTime.withLock { $0 }?.now
        return core.withLock { core in
            if let age { core.now = max(core.now, Instant() + age) }
            return body(&core)
        }
    }
}
