import BLEHost
import BLERuntime
import Dispatch

/// An action of an app, of a test or of a planned fault.
///
/// Actions are processed in the order in which they were queued.
enum WorldAction: Sendable {
    case open(ClientID, ClientRole)
    case close(ClientID)
    /// An app in another process has ended, as reported by a daemon that serves the world's host.
    case appEnded(ClientID)
    /// An app in another process has been launched again, as reported by a daemon that serves the world's host.
    case appReturned(ClientID)
    case transfer(ClientID, ClientOwner)
    case request(ClientRequest, ClientID)
    case move(machine: Int, World.Position)
    case walk(machine: Int, to: World.Position, taking: Duration)
    /// Carries out the next step of a walk.
    case step(machine: Int, Walk)
    case setRadio(machine: Int, isOn: Bool)
    case setBluetooth(machine: Int, isOn: Bool)
    case changePhaseOfApps(machine: Int, BackgroundModes?)
    case setFaults(machine: Int, Machine.Faults)
    case setSeparated(Int, Int, Bool)
    /// Starts a fault of the machine with this name.
    case startFault(World.Fault.Kind, machine: String)
    /// Ends the fault with this number on a machine.
    case endFault(machine: Int, Int)
    case expireTask(machine: Int, Int)
}

/// A launch of a machine's apps because of an event.
struct WorldLaunch: Sendable {
    /// The index of the machine.
    let machine: Int
    let launcher: Machine.Launcher
    let launch: Machine.Launch
}

/// A manager of an app in a world.
struct WorldSession: Sendable {
    /// The index of the app's machine.
    let machine: Int
    /// The index of the app in its machine.
    let app: Int
    let role: ClientRole
    /// The owner of the session: an app in another process if a daemon serves the world's host, otherwise this program.
    var owner = ClientOwner.program
    /// The identifier by which the host knows the manager.
    ///
    /// A manager that continues the session of an earlier launch keeps the identifier from that launch.
    var client: ClientID
    /// The queue on which the manager receives events.
    let queue: DispatchQueue
    /// The queue that `queue` targets.
    ///
    /// The rest of the app may run on it.
    let appQueue: AppQueue
    let receive: @Sendable (ClientEvent) -> Void
}

/// Events for one manager at one instant.
struct WorldDelivery: Sendable {
    let session: WorldSession
    var events: [ClientEvent]
}
