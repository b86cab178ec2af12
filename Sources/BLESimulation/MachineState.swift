import BLEController
import BLEHost
import BLEWire

/// The internal state of a machine: its host, and its controller on the air.
final class MachineState {
    /// The state of the controller.
    enum RadioState {
        case present(ControllerID)
        /// Unplugged. At `absentAt`, the world reports to the host that the controller is absent; `nil` if it has
        /// already done so.
        case unplugged(absentAt: Instant?)
        /// Being reset, and off until this time.
        case resetting(ControllerID, until: Instant)
        /// Switched off by the user.
        case switchedOff(ControllerID)
    }

    let name: String
    /// The identity that the machine's controller has when it is plugged in, with the machine's current position.
    var identity: ControllerIdentity
    /// The configuration with which the host starts, without its known peers.
    let configuration: Host.Configuration
    var host: Host
    /// The peers that the host has stored.
    var peers: KnownPeers
    /// The number of restarts.
    var restarts: UInt64 = 0
    /// The launcher of the machine's apps, if there is one.
    var launcher: Machine.Launcher?
    /// True if the apps have been launched since they last ended.
    var isLaunched = false
    var radio: RadioState
    /// True from the user switching Bluetooth off until the user switches it on, also while there is no controller.
    var isSwitchedOff = false
    var faults = Machine.Faults()
    /// The current faults of the machine.
    var runningFaults = RunningFaults()
    /// The number of walks and other moves that have begun.
    var movements = 0
    /// The apps of the machine; the default app comes first.
    var apps = [AppRecord(name: AppRecord.standardName)]
    /// The numbers of the running background tasks.
    var backgroundTasks: [Int] = []
    /// True if apps that work too long in the background are ended.
    var endsLateApps = false
    /// The alerts that the user has seen.
    var alerts: [Machine.Alert] = []
    /// The alerts that apps have requested, by the number of the client.
    var requestedAlerts: [Int: RequestedAlerts] = [:]
    /// The passkeys that are displayed for pairings with peers, and the clients that display them.
    var displayedPasskeys: [(client: ClientID, peer: PeerIdentifier, passkey: UInt32)] = []
    /// The names of peers that any app has learnt.
    var names: [PeerIdentifier: String] = [:]
    /// The background modes of the machine's apps; `nil` while they are in the foreground.
    var backgroundModes: BackgroundModes?
    /// The events that are held for suspended apps.
    var held: [(client: Int, event: ClientEvent)] = []
    /// A closure that changes the packets from the host to its controller, for tests that need a faulty host.
    var packetModifier: ((inout [UInt8]) -> Void)?
    /// True if the host may have output that has not been taken.
    var isDirty = false
    /// The host's deadline as it was when all of the host's output was last taken; `nil` if there was none.
    var hostDeadline: Instant?

    init(
        name: String,
        identity: ControllerIdentity,
        configuration: Host.Configuration,
        host: consuming Host,
        controller: ControllerID
    ) {
        self.name = name
        self.identity = identity
        self.configuration = configuration
        self.host = host
        peers = KnownPeers(limits: configuration.limits)
        radio = .present(controller)
    }

    /// The controller, if it exchanges packets with the host; otherwise `nil`.
    var controller: ControllerID? {
        if case .present(let controller) = radio { controller } else { nil }
    }

    /// The identity address by which other machines reach this machine.
    var address: DeviceAddress { configuration.staticAddress ?? identity.address }

    /// Returns the phase that applies to managers with this role: foreground, background or suspended.
    func phase(of role: ClientRole) -> AppPhase {
        guard let backgroundModes, role != .agent else { return .foreground }
        guard backgroundModes.contains(BackgroundModes(role)) else { return .suspended }
        return backgroundModes.contains(.liveActivity) ? .foreground : .background
    }

    /// The next time at which the host or its radio must be woken; `nil` if there is none.
    var deadline: Instant? {
        switch radio {
        case .present, .switchedOff, .unplugged(absentAt: nil): hostDeadline
        case .unplugged(let change?), .resetting(_, let change): min(change, hostDeadline ?? change)
        }
    }
}
