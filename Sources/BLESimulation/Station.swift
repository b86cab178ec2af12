import BLEController
import BLEHost
import BLEWire

/// What a machine is inside its world: a host, and where its controller is on the air.
final class Station {
    /// Where the controller is.
    enum Radio {
        case present(ControllerID)
        /// Taken away; the host hears that it is absent when it has been so for a while.
        case unplugged(absentAt: Instant?)
        /// Switched off by the host, until then.
        case resetting(ControllerID, until: Instant)
        /// Switched off by the user.
        case switchedOff(ControllerID)
    }

    let name: String
    /// As new, wherever the machine has gone since.
    var identity: ControllerIdentity
    /// What the host was made with.
    let configuration: Host.Configuration
    var host: Host
    /// Whom the host wants to remember when the machine is started anew.
    var peers: RememberedPeers
    /// How often the machine was started anew.
    var restarts: UInt64 = 0
    /// Launches the apps of the machine, if somebody does.
    var launcher: Machine.Launcher?
    /// Whether the apps were launched since they ended.
    var isLaunched = false
    var radio: Radio
    var faults = Machine.Faults()
    /// What goes wrong with the machine for a while.
    var runningFaults = RunningFaults()
    /// The apps that were named, the one without a name of its own first.
    var apps = [AppRecord(name: AppRecord.standardName)]
    /// The background tasks that have not ended.
    var backgroundTasks: [Int] = []
    /// Whether apps are ended that work too long in the background.
    var endsLateApps = false
    /// What the user has been told in the place of apps.
    var alerts: [Machine.Alert] = []
    /// What apps want the user to be told while they sleep, by their clients.
    var wishes: [Int: AlertWishes] = [:]
    /// What peers are called, as far as any app has heard.
    var names: [PeerIdentifier: String] = [:]
    /// What the apps of the machine may do in the background; `nil` while they are in the foreground.
    var backgroundModes: BackgroundModes?
    /// What apps hear when they are at work again.
    var held: [(client: Int, event: ClientEvent)] = []
    /// Changes the packets that the host hands to its controller, so that tests have a host that makes mistakes.
    var distortion: ((inout [UInt8]) -> Void)?
    /// Whether the host may have something to say.
    var isDirty = false
    /// The host's deadline, as it was when it last had nothing more to say.
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
        peers = RememberedPeers(limits: configuration.limits)
        radio = .present(controller)
    }

    /// The controller, if it takes and gives packets.
    var controller: ControllerID? {
        if case .present(let controller) = radio { controller } else { nil }
    }

    /// How far an app that uses the host in this way is in use.
    func phase(of role: ClientRole) -> AppPhase {
        guard let backgroundModes, role != .agent else { return .foreground }
        guard backgroundModes.contains(BackgroundModes(role)) else { return .suspended }
        return backgroundModes.contains(.liveActivity) ? .foreground : .background
    }

    /// When something happens by itself.
    var deadline: Instant? {
        switch radio {
        case .present, .switchedOff, .unplugged(absentAt: nil): hostDeadline
        case .unplugged(let change?), .resetting(_, let change): min(change, hostDeadline ?? change)
        }
    }
}
