import BLEHost
import BLERuntime
import Dispatch

/// An action of an app or test, processed in order.
enum WorldAction: Sendable {
    case open(ClientID, ClientRole)
    case close(ClientID)
    /// The keeper of apps' sessions outside of the world reports that an app has ended or was launched again.
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
    /// Starts a fault of the machine with this name.
    case strike(World.Fault.Kind, machine: String)
    /// Ends a fault of a machine, by its number.
    case endFault(machine: Int, Int)
    case expireTask(machine: Int, Int)
}

/// The launch of a machine's app because of an event.
struct WorldLaunch: Sendable {
    /// The index of the machine.
    let machine: Int
    let launcher: Machine.Launcher
    let launch: Machine.Launch
}

/// A manager of an app in a world.
struct WorldSession: Sendable {
    /// The index of its machine.
    let machine: Int
    /// The index of the app in its machine.
    let app: Int
    let role: ClientRole
    /// The app of another process that the session is for, if a daemon has the world.
    var owner = ClientOwner.program
    /// The host's client for the manager; another one if an earlier launch of its app opened the session.
    var client: ClientID
    /// The queue for events.
    let queue: DispatchQueue
    /// The queue that it targets, on which the rest of the app may run.
    let appQueue: AppQueue
    let receive: @Sendable (ClientEvent) -> Void
}

/// Events for one manager at one instant.
struct WorldDelivery: Sendable {
    let session: WorldSession
    var events: [ClientEvent]
}
