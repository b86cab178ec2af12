package import BLEHost
package import BLERuntime
import Dispatch
import Synchronization

/// A computer in a ``World``: a Bluetooth host and its controller, with a place.
///
/// It is there as long as its world; this object only names it.
public final class Machine: Sendable {
    /// What goes wrong with a machine's controller.
    public struct Faults: Hashable, Sendable {
        /// Whether the controller takes nothing from its host and tells it nothing, as if it had crashed.
        ///
        /// The host gives up after a few seconds and switches it off and on, which does not help either.
        public var isMute = false
        /// The share of events, from 0 to 1, that the controller forgets to tell its host.
        public var forgottenEvents = 0.0
        /// How many of the next connections of apps on this machine fail: they hear `didFailToConnect`.
        public var failedConnections = 0
        /// How many of the next requests for a connection to this machine get lost on the air, so that it comes later.
        public var lostConnectionRequests = 0

        /// Creates a controller without faults.
        public init() {}
    }

    /// What the machine is called.
    public let name: String
    let index: Int
    let world: World

    init(name: String, index: Int, world: World) {
        self.name = name
        self.index = index
        self.world = world
    }

    /// Runs `body` with this machine as the one whose radio new managers use.
    ///
    /// It also holds for managers that an app creates later in delegate methods, but not for what `body` hands to
    /// queues of its own.
    public func inhabit<Result>(_ body: () async throws -> Result) async rethrows -> Result {
        try await Bluetooth.$link.withValue(self) { try await body() }
    }

    /// Runs `body` with this machine as the one whose radio new managers use.
    public func inhabit<Result>(_ body: () throws -> Result) rethrows -> Result {
        try Bluetooth.$link.withValue(self) { try body() }
    }

    /// Puts the machine somewhere else, at once.
    public func move(to position: World.Position) { world.tell(.move(machine: index, position)) }

    /// Takes the controller away, as if it were unplugged.
    ///
    /// Managers hear that Bluetooth is resetting, and a second later that it is unsupported.
    public func unplugRadio() { world.tell(.setRadio(machine: index, isOn: false)) }

    /// Brings the controller back, as new.
    public func plugInRadio() { world.tell(.setRadio(machine: index, isOn: true)) }

    /// Switches Bluetooth off, as the user does in the settings: managers are powered off.
    public func switchBluetoothOff() { world.tell(.setBluetooth(machine: index, isOn: false)) }

    /// Switches Bluetooth on again.
    public func switchBluetoothOn() { world.tell(.setBluetooth(machine: index, isOn: true)) }

    /// Puts the apps of the machine, also those to come, into the background.
    ///
    /// A manager whose role is not among the modes that the apps declare sleeps there: it hears what happened when the
    /// apps are in the foreground again, and what centrals ask of its services is refused meanwhile.
    public func sendAppsToBackground(declaring modes: BackgroundModes) {
        world.tell(.moveApps(machine: index, modes))
    }

    /// Puts the apps of the machine into the foreground again.
    public func bringAppsToForeground() { world.tell(.moveApps(machine: index, nil)) }

    /// Has these things go wrong with the controller from now on, and no others.
    public func cause(_ faults: Faults) { world.tell(.setFaults(machine: index, faults)) }
}

extension Machine: SwitchableHost {
    package func switchBluetooth(on isOn: Bool) { isOn ? switchBluetoothOn() : switchBluetoothOff() }

    /// One manager's conversation with a host in a world.
    private struct Session: HostSession {
        let world: World
        let client: ClientID
        func send(_ request: ClientRequest) {
            let suspicions = world.core.withLock { $0.suspicions(of: request, for: client) }
            world.tell(.request(request, client))
            for suspicion in suspicions { find(suspicion) }
        }

        func report(_ rule: String, _ sentence: String) -> Bool {
            guard let rule = World.Finding.Rule(rawValue: rule) else { return false }
            find(Suspicion(rule: rule, sentence: sentence))
            return true
        }

        private func find(_ suspicion: Suspicion) {
            world.change { core in
                guard case .app(let session) = core.clients[client.rawValue],
                    core.applies(suspicion.rule, to: session)
                else { return }
                core.find(suspicion, machine: session.machine, app: session.app)
            }
        }

        func close() { world.tell(.close(client)) }
        func appEnded() { world.tell(.appEnded(client)) }
        func appReturned() { world.tell(.appReturned(client)) }
        func give(to owner: ClientOwner) { world.tell(.give(client, owner)) }
        func hold() -> Hold? { world.hold() }
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

    /// Where those are told who want to be in the turns of a host, since the turns of a world are the world's.
    private static let turns = DispatchQueue(label: "bluetooth-world")

    /// Opens a session for one of the apps.
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
                receive: receiver.hear
            )
            return if let identifier { core.open(session, restoring: identifier) } else { core.open(session) }
        }
        world.nudge()
        return Session(world: world, client: client)
    }
}
