package import BLEHost
package import Dispatch

/// A connection from an app's managers to a host, which is in this process, in the daemon or in a simulated world.
package protocol HostLink: AnyObject, Sendable {
    /// Opens a session.
    ///
    /// `receiver` gets every event, in order, starting with the known peers and the state of the host. If `receiver` is
    /// called on a queue, it gets no event before this method returns.
    ///
    /// `identifier` is the app's restore identifier, the same in each launch; `nil` for a session that ends with the
    /// app. If the host has kept a session with this identifier, that session continues. A host in the app's own
    /// process keeps no sessions.
    func open(_ role: ClientRole, restoring identifier: String?, _ receiver: EventReceiver) -> any HostSession

    /// Opens a session for `owner`, an app in another process that may act only on its own links and services.
    func open(_ role: ClientRole, for owner: ClientOwner, _ receiver: EventReceiver) -> any HostSession

    /// The identity of the host; equal for all links to the same host.
    var host: HostIdentity { get }

    /// The permission of the app to use the host.
    var permission: HostAuthorization { get }
}

/// A host that a user can switch off and on, like Bluetooth in a system's settings.
package protocol SwitchableHost: HostLink {
    /// Takes the controller if `isOn` is true; otherwise releases it, and managers then report that Bluetooth is
    /// powered off.
    func switchBluetooth(on isOn: Bool)
}

/// The decision whether an app may use a host.
package enum HostAuthorization: Sendable {
    /// The user has not yet decided whether the app may use the host.
    case undetermined
    /// The app is not allowed, and the user cannot change that.
    case restricted
    /// The user has denied access.
    case denied
    /// The app is allowed.
    case allowed
}

/// The identity of a host within a process, valid while a link to it is retained.
package struct HostIdentity: Hashable, Sendable {
    private let owner: ObjectIdentifier
    private let index: Int

    /// Creates the identity of the host with this index among the hosts of `owner`.
    package init(of owner: AnyObject, index: Int = 0) {
        self.owner = ObjectIdentifier(owner)
        self.index = index
    }
}

extension HostLink {
    /// The default identity, which is right only if this is the only link to the host.
    ///
    /// Other links to the same host would have other identities.
    package var host: HostIdentity { HostIdentity(of: self) }

    /// Ignores `owner`: a host in another process gets the identity of the app from the kernel, not from this process.
    package func open(_ role: ClientRole, for owner: ClientOwner, _ receiver: EventReceiver) -> any HostSession {
        open(role, restoring: nil, receiver)
    }

    /// The default permission: the app is allowed.
    package var permission: HostAuthorization { .allowed }

    /// Opens a session that receives events one by one and is not restored when the app is launched again.
    package func open(
        _ role: ClientRole,
        on queue: DispatchQueue,
        receive: @escaping @Sendable (ClientEvent) -> Void
    ) -> any HostSession {
        open(role, restoring: nil, .each(on: queue, receive))
    }
}

/// A manager's session with a host.
package protocol HostSession: Sendable {
    /// Sends a request and returns immediately.
    ///
    /// Requests from one thread arrive in order.
    func send(_ request: ClientRequest)

    /// Closes the session: the host drops everything that only this client requested, and sends the client no more
    /// events.
    func close()

    /// Tells the host that the app has ended, and that the session continues without the app.
    ///
    /// The host refuses requests from peers and does not wait for the app's answers. The session receives events as
    /// before.
    func appEnded()

    /// Tells the host that the app was launched again.
    ///
    /// The session receives the events that a new session starts with.
    func appReturned()

    /// Makes `owner` the owner of the session: another app, or the same one with other permissions.
    func transfer(to owner: ClientOwner)

    /// Tells the host that the app is about to be called on a thread that the app has chosen.
    ///
    /// A simulated world stops its virtual time while the returned object is retained. Other hosts return `nil`.
    func hold() -> TimeHold?

    /// Reports that the app has done something that Apple's systems would refuse.
    ///
    /// `rule` is Apple's name for the rule that the app has broken; `sentence` says what the app has done.
    ///
    /// - Returns: True if the misuse was recorded, which only simulated worlds do.
    @discardableResult
    func report(_ rule: String, _ sentence: String) -> Bool

    /// True if time passes while a thread of the app blocks; the app can then block until the host answers.
    var passesTime: Bool { get }

    /// The number of advertising reports that the app has lost since the session began, because it is too slow.
    var droppedReports: UInt64 { get }
}

extension HostSession {
    package func transfer(to owner: ClientOwner) {}
    package func hold() -> TimeHold? { nil }
    @discardableResult
    package func report(_ rule: String, _ sentence: String) -> Bool { false }
    package var passesTime: Bool { true }
    package var droppedReports: UInt64 { 0 }
}

/// A hold on a simulated world's virtual time, which does not advance while this object is retained.
package final class TimeHold: Sendable {
    private let release: @Sendable () -> Void

    /// Creates a hold.
    ///
    /// `release` is called when the last reference to this object goes away, on the thread that drops the reference.
    package init(release: @escaping @Sendable () -> Void) { self.release = release }

    deinit { release() }
}

/// The link to the host that new managers use.
package enum Bluetooth {
    /// A task-local link that a test sets for itself and its callees, so that tests can run in parallel.
    @TaskLocal package static var link: (any HostLink)?

    /// The key under which a session's queue stores its target, the app's queue.
    ///
    /// A simulated world waits for the app's queue before it advances time, because the app may make requests on that
    /// queue.
    package static let appQueue = DispatchSpecificKey<DispatchQueue>()
}

/// A link that stands for a missing host: managers report that Bluetooth is not supported.
package final class UnsupportedLink: HostLink {
    private struct Session: HostSession {
        func send(_ request: ClientRequest) {}
        func close() {}
        func appEnded() {}
        func appReturned() {}
    }

    package init() {}

    package func open(
        _ role: ClientRole,
        restoring identifier: String?,
        _ receiver: EventReceiver
    ) -> any HostSession {
        (receiver.queue ?? .global()).async { receiver.deliver(.stateChanged(.unsupported)) }
        return Session()
    }
}
