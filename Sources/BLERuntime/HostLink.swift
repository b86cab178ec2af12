package import BLEHost
package import Dispatch

/// A line from an app's manager to a host, in this process, in a daemon or in a simulated world.
package protocol HostLink: AnyObject, Sendable {
    /// Opens a session.
    ///
    /// `receiver` hears every event, in order; the first say which peers are known and what state the host is in. On a
    /// queue it hears nothing before this returns. `identifier` names the session across launches of the app, so that
    /// it goes on if the host has kept it since an earlier launch; a host that ends with its app keeps nothing.
    func open(_ role: ClientRole, restoring identifier: String?, _ receiver: EventReceiver) -> any HostSession

    /// Opens a session for an app of another process, which may act only on what is its own.
    func open(_ role: ClientRole, for owner: ClientOwner, _ receiver: EventReceiver) -> any HostSession

    /// The host that this leads to, which is the same for all links to it.
    var host: HostIdentity { get }

    /// Whether the app that has the link may use the host.
    var permission: HostAuthorization { get }
}

/// A host that its user can switch off and on.
package protocol SwitchableHost: HostLink {
    /// Has the host let go of its controller, so that managers are powered off, or take it again.
    func switchBluetooth(on isOn: Bool)
}

/// Whether an app may use a host, as its user has decided.
package enum HostAuthorization: Sendable {
    /// The user has not been asked yet.
    case undetermined
    /// It may not, and the user cannot change that.
    case restricted
    /// The user said no.
    case denied
    /// It may.
    case allowed
}

/// Names a host among all of a process, as long as somebody keeps a link to it.
package struct HostIdentity: Hashable, Sendable {
    private let owner: ObjectIdentifier
    private let index: Int

    /// Names the host with this index among those of `owner`.
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

    /// What nobody guards may be used.
    package var permission: HostAuthorization { .allowed }

    /// Opens a session that hears events one by one and of which nothing is left when the app ends.
    package func open(
        _ role: ClientRole,
        on queue: DispatchQueue,
        receive: @escaping @Sendable (ClientEvent) -> Void
    ) -> any HostSession {
        open(role, restoring: nil, .each(on: queue, receive))
    }
}

/// One manager's conversation with a host.
package protocol HostSession: Sendable {
    /// Hands a request over and returns at once.
    ///
    /// Requests sent from one thread arrive in order.
    func send(_ request: ClientRequest)

    /// Ends the session: the host drops what this client alone wanted, and sends it nothing more.
    func close()

    /// Says that the app has ended and that the session goes on without it: nobody answers peers, or waits for answers.
    ///
    /// What the host says is received as before.
    func appEnded()

    /// Says that the app was launched again: it hears what every new session does.
    func appReturned()

    /// Gives the session to another app, or to the same one with other rights.
    func give(to owner: ClientOwner)

    /// Says that the app is about to be called on a thread of its own choice.
    ///
    /// A simulated world lets no time pass while the hold is there; others need none.
    func hold() -> Hold?

    /// Says that the app did something that Apple's systems refuse, by Apple's name for the rule.
    ///
    /// - Returns: Whether somebody lists it, as worlds do.
    @discardableResult
    func report(_ rule: String, _ sentence: String) -> Bool

    /// Whether time passes while a thread of the app waits, so that waiting for the host is not in vain.
    var passesTime: Bool { get }
}

extension HostSession {
    package func give(to owner: ClientOwner) {}
    package func hold() -> Hold? { nil }
    @discardableResult
    package func report(_ rule: String, _ sentence: String) -> Bool { false }
    package var passesTime: Bool { true }
}

/// Keeps a simulated world at an instant, for as long as somebody keeps this.
package final class Hold: Sendable {
    private let release: @Sendable () -> Void

    /// Creates a hold; `release` is called on whichever thread lets go of it.
    package init(release: @escaping @Sendable () -> Void) { self.release = release }

    deinit { release() }
}

/// The link that managers open when they are created.
package enum Bluetooth {
    /// A test binds a world of its own here, for itself and what it calls, so tests run side by side.
    @TaskLocal package static var link: (any HostLink)?

    /// Says of a session's queue which queue of the app's stands behind it.
    ///
    /// A simulated world waits for that one before it lets time pass, since what the app asks for may come from there.
    package static let appQueue = DispatchSpecificKey<DispatchQueue>()
}
