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
    }

    let name: String
    /// As new, wherever the machine has gone since.
    var identity: ControllerIdentity
    var host: Host
    var radio: Radio
    var faults = Machine.Faults()
    /// Whether the host may have something to say.
    var isDirty = false
    /// The host's deadline, as it was when it last had nothing more to say.
    var hostDeadline: Instant?

    init(name: String, identity: ControllerIdentity, host: consuming Host, controller: ControllerID) {
        self.name = name
        self.identity = identity
        self.host = host
        radio = .present(controller)
    }

    /// The controller, if it takes and gives packets.
    var controller: ControllerID? {
        if case .present(let controller) = radio { controller } else { nil }
    }

    /// When something happens by itself.
    var deadline: Instant? {
        switch radio {
        case .present, .unplugged(absentAt: nil): hostDeadline
        case .unplugged(let change?), .resetting(_, let change): min(change, hostDeadline ?? change)
        }
    }
}
