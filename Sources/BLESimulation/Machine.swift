package import BLEHost
package import BLERuntime
import Dispatch
import Synchronization

/// A computer in a ``World``: a Bluetooth host with its controller, at a position.
///
/// Apps that are created inside `inhabit` use its radio. Tests can move the machine, switch its Bluetooth off, remove
/// its radio, restart it, and deny permissions to its apps.
///
/// The machine exists as long as its world; this object is only a reference to it.
public final class Machine: Sendable {
    /// The faults of a machine's controller.
    public struct Faults: Hashable, Sendable {
        /// True if the controller ignores its host and reports nothing, as if it had crashed.
        ///
        /// After a few seconds, the host resets the controller, which does not end the fault.
        public var isMute = false
        /// The share of HCI events, from 0 to 1, that are lost between the controller and the host.
        public var forgottenEvents = 0.0
        /// The number of further connections by apps on this machine that will fail with `didFailToConnect`.
        public var failedConnections = 0
        /// The number of connection requests to this machine that will be lost on the air, so that the connection takes
        /// longer.
        public var lostConnectionRequests = 0

        /// Creates faults that have no effect.
        public init() {}
    }

    /// The name by which logs, stories and planned faults refer to the machine.
    public let name: String
    let index: Int
    package let world: World

    init(name: String, index: Int, world: World) {
        self.name = name
        self.index = index
        self.world = world
    }

    /// Runs `body`; the managers that `body` creates use this machine.
    ///
    /// Managers that an app creates later, in a delegate method of one of these managers, use it as well. Managers that
    /// `body` creates on other queues do not.
    public func inhabit<Result>(_ body: () async throws -> Result) async rethrows -> Result {
        try await Bluetooth.$link.withValue(self) { try await body() }
    }

    /// Runs `body`; the managers that `body` creates use this machine.
    public func inhabit<Result>(_ body: () throws -> Result) rethrows -> Result {
        try Bluetooth.$link.withValue(self) { try body() }
    }

    /// Moves the machine immediately, and ends a walk.
    public func move(to position: World.Position) { world.enqueue(.move(machine: index, position)) }

    /// Unplugs the controller.
    ///
    /// The state of managers becomes `.resetting`, and a second later `.unsupported`.
    public func unplugRadio() { world.enqueue(.setRadio(machine: index, isOn: false)) }

    /// Plugs the controller in again, in its initial state.
    ///
    /// If the user has switched Bluetooth off, it stays off.
    public func plugInRadio() { world.enqueue(.setRadio(machine: index, isOn: true)) }

    /// Switches Bluetooth off, as the user does in the settings.
    ///
    /// The state of managers becomes `.poweredOff`.
    public func switchBluetoothOff() { world.enqueue(.setBluetooth(machine: index, isOn: false)) }

    /// Switches Bluetooth on again.
    public func switchBluetoothOn() { world.enqueue(.setBluetooth(machine: index, isOn: true)) }

    /// Sends the apps of the machine, including future ones, to the background.
    ///
    /// A manager whose role is not among the declared modes is suspended: it gets its events when the apps return to
    /// the foreground. Until then, requests from centrals to its services are refused.
    public func sendAppsToBackground(declaring modes: BackgroundModes) {
        world.enqueue(.changePhaseOfApps(machine: index, modes))
    }

    /// Brings the apps of the machine to the foreground again.
    public func bringAppsToForeground() { world.enqueue(.changePhaseOfApps(machine: index, nil)) }

    /// Sets the faults of the machine, replacing earlier faults.
    public func cause(_ faults: Faults) { world.enqueue(.setFaults(machine: index, faults)) }
}

extension Machine: SwitchableHost {
    package func switchBluetooth(on isOn: Bool) { isOn ? switchBluetoothOn() : switchBluetoothOff() }

    /// A manager's session with a host in a world.
    private struct Session: HostSession {
        let world: World
        let client: ClientID
        func send(_ request: ClientRequest) {
            let suspicions = world.core.withLock { $0.possibleFindings(of: request, for: client) }
            world.enqueue(.request(request, client))
            for suspicion in suspicions { find(suspicion) }
        }

        func report(_ rule: String, _ sentence: String) -> Bool {
            guard let rule = World.Finding.Rule(rawValue: rule) else { return false }
            find(PossibleFinding(rule: rule, sentence: sentence))
            return true
        }

        private func find(_ suspicion: PossibleFinding) {
            world.change { core in
                guard case .app(let session) = core.clients[client.rawValue],
                    core.applies(suspicion.rule, to: session)
                else { return }
                core.find(suspicion, machine: session.machine, app: session.app)
            }
        }

        func close() { world.enqueue(.close(client)) }
        func appEnded() { world.enqueue(.appEnded(client)) }
        func appReturned() { world.enqueue(.appReturned(client)) }
        func transfer(to owner: ClientOwner) { world.enqueue(.transfer(client, owner)) }
        func hold() -> TimeHold? { world.hold() }
        var passesTime: Bool { world.runsInRealTime }
    }

    package var host: HostIdentity { HostIdentity(of: world, index: index) }

    package var permission: HostAuthorization { HostAuthorization(authorization) }

    package func open(
        _ role: ClientRole,
        restoring identifier: String?,
        _ receiver: EventReceiver
    ) -> any HostSession {
        open(role, of: 0, restoring: identifier, receiver)
    }

    package func open(_ role: ClientRole, for owner: ClientOwner, _ receiver: EventReceiver) -> any HostSession {
        open(role, of: 0, restoring: nil, for: owner, receiver)
    }

    /// The queue for clients that have no queue of their own (`EventReceiver.inTurn`).
    ///
    /// Outside of worlds, such clients are called during the turns of their host. In a world, they are called on this
    /// queue, because the turns of the hosts belong to the world.
    private static let turns = DispatchQueue(label: "bluetooth-world")

    /// Opens a session for one of the machine's apps.
    func open(
        _ role: ClientRole,
        of app: Int,
        restoring identifier: String?,
        for owner: ClientOwner = .program,
        _ receiver: EventReceiver
    ) -> any HostSession {
        let queue = receiver.queue ?? Self.turns
        let appQueue = AppQueue(queue.getSpecific(key: Bluetooth.appQueue) ?? queue)
        let client = world.core.withLock { core in
            let session = WorldSession(
                machine: index,
                app: app,
                role: role,
                owner: owner,
                client: core.nextClient,
                queue: queue,
                appQueue: appQueue,
                receive: receiver.deliver
            )
            return if let identifier { core.open(session, restoring: identifier) } else { core.open(session) }
        }
        world.nudge()
        return Session(world: world, client: client)
    }
}
