import BLEHost
import BLERuntime
import BLESimulation
import Dispatch
public import Foundation

/// What central managers and peripheral managers have in common: a session with a host, and its state.
///
/// Threads may share a manager: a lock protects what changes, so that each property and method can be used on any
/// thread. The delegate is called on the manager's queue.
open class CBManager: NSObject, Observed, @unchecked Sendable {
    let reference: ManagerReference
    let session: any HostSession
    /// Those who hear what the host says after the delegate has.
    package var observers: Observers { reference.observers }
    let channels = Protected(WeakTable<ChannelID, ChannelConduit>())
    /// Whether the app wants its manager's state back when it is launched again.
    private let restores: Bool
    private let hostState = Protected(CBManagerState.unknown)

    /// Opens a session; events arrive on a serial queue of the manager's own, which targets the app's queue.
    ///
    /// So they keep their order even if the app's queue is concurrent, and count as being on the app's queue.
    init(_ role: ClientRole, of link: any HostLink, queue: DispatchQueue?, restoreIdentifier: Any?) {
        let restoreIdentifier = restoreIdentifier as? String
        restores = restoreIdentifier != nil
        let appQueue = queue ?? .main
        ServedQueue.mark(appQueue)
        let queue = DispatchQueue(label: "CoreBluetooth", target: appQueue)
        queue.setSpecific(key: Bluetooth.appQueue, value: appQueue)
        let reference = ManagerReference(queue: queue)
        self.reference = reference
        queue.suspend()
        session = link.open(role, restoring: restoreIdentifier, .all(on: queue) { reference.hear(&$0) })
        super.init()
        reference.manager = self
        if let declared = ProcessInfo.processInfo.environment[BackgroundDeclaration.variable] {
            let phase = BackgroundDeclaration.phase(of: role, declared: declared)
            if restores, phase == .suspended { raiseForMissingMode(of: role) }
            session.send(.appMoved(to: phase))
        }
        queue.resume()
    }

    /// Who observes properties of the manager.
    let watchers = Watchers()

    /// Has what the manager knows of itself tell those who observe it, from the first observer on.
    func beWatched() { hostState.tell(watchers) }

    deinit {
        endChannels(.cancelled)
        session.close()
    }

    /// Whether commands are accepted now.
    open var state: CBManagerState { hostState.current }

    /// Whether the app may use Bluetooth; a spelling of long ago.
    @available(*, deprecated, message: "Use the class property instead.")
    open var authorization: CBManagerAuthorization { Self.authorization }

    /// Whether the app may use Bluetooth; known before there is any manager.
    ///
    /// It may, but in a simulated world that says otherwise.
    open class var authorization: CBManagerAuthorization {
        CBManagerAuthorization(DefaultLink.chosen?.permission ?? .allowed)
    }

    /// Brings the objects up to date with `event`, then tells the delegate.
    ///
    /// Always on the manager's queue: what a delegate method reads is what it was called about. Earlier ones of the
    /// events that came together were about `latest`.
    func apply(_: ClientEvent, _: inout LatestPeers) {}

    /// Changes the state, and says what it was.
    func enter(_ state: CBManagerState) -> CBManagerState {
        hostState.withLock { current in
            defer { current = state }
            return current
        }
    }

    /// Ends the program of an app that wants its state back and lacks the method that is told of it; a simulated world
    /// lists that instead.
    ///
    /// The defaults of those methods say so when they are called, since nothing can ask a delegate what it has.
    func raiseForMissingRestoration(_ method: String) {
        guard restores else { return }
        let reason = "\(Swift.type(of: self)) has a restore identifier but its delegate does not implement \(method)"
        if !session.report("State Preservation and Restoration: willRestoreState", reason) { raise(reason) }
    }

    /// Ends the program of an app that wants its state back and does not declare that it works in the background.
    private func raiseForMissingMode(of role: ClientRole) -> Never {
        raise(
            "\(Swift.type(of: self)) has a restore identifier but \(BackgroundDeclaration.variable) does not name "
                + (BackgroundDeclaration.mode(of: role) ?? "it")
        )
    }

    /// Whether commands are accepted now; says so if they are not.
    func acceptsCommands() -> Bool {
        guard state != .poweredOn else { return true }
        reference.console.misuse(
            "<\(Swift.type(of: self)): \(address)> can only accept this command while in the powered on state"
        )
        return false
    }
}

extension CBManagerState {
    init(_ state: HostState) {
        self =
            switch state {
            case .unknown: .unknown
            case .resetting: .resetting
            case .unsupported: .unsupported
            case .unauthorized: .unauthorized
            case .poweredOff: .poweredOff
            case .poweredOn: .poweredOn
            }
    }

    /// Whether peripherals, services and centrals of before are void.
    var invalidatesObjects: Bool { rawValue < CBManagerState.poweredOff.rawValue }
}

extension CBManagerAuthorization {
    init(_ authorization: HostAuthorization) {
        self =
            switch authorization {
            case .undetermined: .notDetermined
            case .restricted: .restricted
            case .denied: .denied
            case .allowed: .allowedAlways
            }
    }
}
