import BLEHost
import BLERuntime
import Dispatch

/// What an app or a test does to a world; heard in the order in which it was done.
enum WorldAction: Sendable {
    case open(ClientID, ClientRole)
    case close(ClientID)
    /// Whoever keeps sessions of apps outside of the world says that an app has ended, or was launched again.
    case appEnded(ClientID)
    case appReturned(ClientID)
    case give(ClientID, ClientOwner)
    case request(ClientRequest, ClientID)
    case move(machine: Int, World.Position)
    case setRadio(machine: Int, isOn: Bool)
    case setBluetooth(machine: Int, isOn: Bool)
    case moveApps(machine: Int, BackgroundModes?)
    case setFaults(machine: Int, Machine.Faults)
    case setApart(Int, Int, Bool)
    /// Something goes wrong with a machine of this name.
    case strike(World.Fault.Kind, machine: String)
    /// A fault of a machine ends, by its number among those of that machine.
    case endFault(machine: Int, Int)
    case expireTask(machine: Int, Int)
}

/// That an app of a machine is launched, because something happened that it is to hear of.
struct WorldLaunch: Sendable {
    /// The index of the machine.
    let machine: Int
    let launcher: Machine.Launcher
    let launch: Machine.Launch
}

/// An app's manager in a world.
struct WorldSession: Sendable {
    /// The index of the machine that it is on.
    let machine: Int
    /// The index of the app among those of the machine.
    let app: Int
    let role: ClientRole
    /// The app of another process that the session is for, if a daemon has the world.
    var owner = ClientOwner.program
    /// Whom the host takes the manager for; another than itself if an earlier launch of its app opened the session.
    var client: ClientID
    /// Where events are delivered.
    let queue: DispatchQueue
    /// The queue behind that one, where the rest of the app may run.
    let appQueue: AppQueue
    let receive: @Sendable (ClientEvent) -> Void
}

/// Events for one manager that belong to one instant.
struct WorldDelivery: Sendable {
    let session: WorldSession
    var events: [ClientEvent]
}
