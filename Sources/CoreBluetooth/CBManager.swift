import BLEHost
import BLERuntime
import BLESimulation
import Dispatch
public import Foundation

/// The common superclass of central and peripheral managers.
///
/// It holds an app's session with a host, and the state of the manager.
///
/// A manager can be used on any thread, because a lock protects its state. The delegate is called on the queue that the
/// app passed to the initializer, or on the main queue.
open class CBManager: NSObject, Observed, @unchecked Sendable {
    let reference: ManagerReference
    let session: any HostSession
    /// The observers of the manager's events, called after the delegate.
    package var observers: Observers { reference.observers }
    let channels = Protected(WeakTable<ChannelID, ChannelState>())
    /// True if the app has passed a restore identifier, which means that it uses state restoration.
    private let restores: Bool
    private let hostState = Protected(CBManagerState.unknown)

    /// Creates a manager, and opens its session with the host behind `link`.
    ///
    /// Events arrive on the manager's own serial queue, which targets the app's queue. So the events stay in order even
    /// if the app's queue is concurrent, and the delegate still runs on the app's queue.
    init(_ role: ClientRole, of link: any HostLink, queue: DispatchQueue?, restoreIdentifier: Any?) {
        let restoreIdentifier = restoreIdentifier as? String
        restores = restoreIdentifier != nil
        let appQueue = queue ?? .main
        ManagerQueues.mark(appQueue)
        let queue = DispatchQueue(label: "CoreBluetooth", target: appQueue)
        queue.setSpecific(key: Bluetooth.appQueue, value: appQueue)
        let reference = ManagerReference(queue: queue)
        self.reference = reference
        queue.suspend()
        session = link.open(role, restoring: restoreIdentifier, .all(on: queue) { reference.deliver(&$0) })
        super.init()
        reference.manager = self
        if let declared = ProcessInfo.processInfo.environment[BackgroundDeclaration.variable] {
            let phase = BackgroundDeclaration.phase(of: role, declared: declared)
            if restores, phase == .suspended { raiseForMissingMode(of: role) }
            session.send(.appPhaseChanged(to: phase))
        }
        queue.resume()
    }

    /// The observers of the manager's properties.
    let watchers = PropertyObservers()

    /// Starts reporting changes of the manager's properties to observers; called whenever an observer is added.
    func startReportingChanges() { hostState.reportChanges(to: watchers) }

    deinit {
        endChannels(.cancelled)
        session.close()
        // No more events follow, so tasks would wait forever.
        if !observers.isEmpty { observers.deliver(.stateChanged(.unknown)) }
    }

    /// The state of the manager.
    ///
    /// The manager accepts commands only in the state ``CBManagerState/poweredOn``.
    open var state: CBManagerState { hostState.current }

    /// The app's permission to use Bluetooth (deprecated; use the class property of this name).
    @available(*, deprecated, message: "Use the class property instead.")
    open var authorization: CBManagerAuthorization { Self.authorization }

    /// The app's permission to use Bluetooth, which can be read without creating a manager.
    ///
    /// Always ``CBManagerAuthorization/allowedAlways``, unless a policy of the daemon or a simulated world restricts
    /// it.
    open class var authorization: CBManagerAuthorization {
        CBManagerAuthorization(DefaultLink.chosen?.permission ?? .allowed)
    }

    /// Updates the app's objects for a host event, then calls the delegate.
    ///
    /// Runs on the manager's queue, so the objects still have the values from this event when a delegate method reads
    /// them. The second argument holds the peripheral and the central of the previous events, and is updated.
    func apply(_: ClientEvent, _: inout LatestPeers) {}

    /// Changes the state and returns the previous state.
    func replaceState(with state: CBManagerState) -> CBManagerState {
        hostState.withLock { current in
            defer { current = state }
            return current
        }
    }

    /// Ends the program if the app uses state restoration, which requires the delegate to implement `method`.
    ///
    /// A simulated world reports a finding instead.
    ///
    /// Called by the default implementation of `method`, because there is no other way to find out that a delegate
    /// does not implement it.
    func raiseForMissingRestoration(_ method: String) {
        guard restores else { return }
        let reason = "\(Swift.type(of: self)) has a restore identifier but its delegate does not implement \(method)"
        if !session.report("State Preservation and Restoration: willRestoreState", reason) { raise(reason) }
    }

    /// Ends the program, because the app uses state restoration without declaring the background mode for `role`.
    private func raiseForMissingMode(of role: ClientRole) -> Never {
        raise(
            "\(Swift.type(of: self)) has a restore identifier but \(BackgroundDeclaration.variable) does not name "
                + (BackgroundDeclaration.mode(of: role) ?? "it")
        )
    }

    /// Returns whether the manager accepts commands now; logs a misuse if it does not.
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

    /// True if peripherals, services and centrals become invalid in this state.
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
