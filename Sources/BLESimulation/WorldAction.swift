import BLEHost
import BLERuntime
import Dispatch

/// An action of an app or test.
///
/// Actions are processed in order.
enum WorldAction: Sendable {
    case open(ClientID, ClientRole)
    case close(ClientID)
    /// A daemon that serves the world's host to other processes reports that an app has ended, or has been launched
    /// again.
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
    /// The app in another process that the session is for, if a daemon serves the world's host to other processes.
    var owner = ClientOwner.program
    /// The client by which the host knows the manager: that of an earlier launch, if the manager continues its session.
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
