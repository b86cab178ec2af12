package import BLEHost
package import Dispatch

/// A connection from an app's manager to a host in this process, in the daemon or in a simulated world.
package protocol HostLink: AnyObject, Sendable {
    /// Opens a session.
    ///
    /// `receiver` gets every event, in order, starting with the known peers and the state of the host. On a queue, it
    /// gets none before this method returns. `identifier` identifies the session across launches of the app, so that it
    /// continues if the host has kept it; a host in the app's process keeps nothing.
    func open(_ role: ClientRole, restoring identifier: String?, _ receiver: EventReceiver) -> any HostSession

    /// Opens a session for an app of another process, which may act only on what is its own.
    func open(_ role: ClientRole, for owner: ClientOwner, _ receiver: EventReceiver) -> any HostSession

    /// The identity of the host, which is the same for all links to it.
    var host: HostIdentity { get }

    /// The permission of the app to use the host.
    var permission: HostAuthorization { get }
}

/// A host that its user can switch off and on.
package protocol SwitchableHost: HostLink {
    /// Releases the controller, so that managers are powered off, or takes it again.
    func switchBluetooth(on isOn: Bool)
}

/// The user's decision whether an app may use a host.
package enum HostAuthorization: Sendable {
    /// The user has not been asked yet.
    case undetermined
    /// Not allowed, and the user cannot change that.
    case restricted
    /// The user has denied it.
    case denied
    /// Allowed.
    case allowed
}

/// The identity of a host within a process, valid while a link to it is retained.
package struct HostIdentity: Hashable, Sendable {
    private let owner: ObjectIdentifier
    private let index: Int

    /// Creates the identity of the host with this index among those of `owner`.
    package init(of owner: AnyObject, index: Int = 0) {
        self.owner = ObjectIdentifier(owner)
        self.index = index
    }
}

extension HostLink {
    /// A host of its own.
    package var host: HostIdentity { HostIdentity(of: self) }

    /// Hosts of other processes learn from the kernel who has a session, and not from this process.
    package func open(_ role: ClientRole, for owner: ClientOwner, _ receiver: EventReceiver) -> any HostSession {
        open(role, restoring: nil, receiver)
    }

    /// Always allowed.
    package var permission: HostAuthorization { .allowed }

    /// Opens a session that receives events one by one and ends with the app.
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

    /// Closes the session: the host drops what only this client requested, and sends no more events.
    func close()

    /// Reports that the app has ended but the session continues: requests of peers are refused, and no results are
    /// awaited.
    ///
    /// Events of the host are received as before.
    func appEnded()

    /// Reports that the app was launched again: it receives the events of a new session.
    func appReturned()

    /// Gives the session to another app, or to the same one with other rights.
    func give(to owner: ClientOwner)

    /// Reports that the app is about to be called on a thread of its choice.
    ///
    /// A simulated world stops virtual time while the hold is retained; other hosts do nothing.
    func hold() -> TimeHold?

    /// Reports that the app did something that Apple's systems would refuse, by Apple's name for the rule.
    ///
    /// - Returns: True if the misuse was recorded, as in worlds.
    @discardableResult
    func report(_ rule: String, _ sentence: String) -> Bool

    /// True if time passes while a thread of the app waits, so that it can wait for the host.
    var passesTime: Bool { get }
}

extension HostSession {
    package func give(to owner: ClientOwner) {}
    package func hold() -> TimeHold? { nil }
    @discardableResult
    package func report(_ rule: String, _ sentence: String) -> Bool { false }
    package var passesTime: Bool { true }
}

/// A hold on a simulated world's virtual time, which stands still while this is retained.
package final class TimeHold: Sendable {
    private let release: @Sendable () -> Void

    /// Creates a hold; `release` is called on the thread that releases it.
    package init(release: @escaping @Sendable () -> Void) { self.release = release }

    deinit { release() }
}

/// The link that new managers open.
package enum Bluetooth {
    /// A task-local link that a test sets for itself and its callees, so that tests can run in parallel.
    @TaskLocal package static var link: (any HostLink)?

    /// The key of an app's queue in the queue of a session that targets it.
    ///
    /// A simulated world waits for that queue before it lets time pass, because the app may make requests from it.
    package static let appQueue = DispatchSpecificKey<DispatchQueue>()
}
