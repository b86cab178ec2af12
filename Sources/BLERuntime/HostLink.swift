package import BLEHost
package import Dispatch

/// A line from an app's manager to a host, in this process, in a daemon or in a simulated world.
package protocol HostLink: Sendable {
    /// Opens a session.
    ///
    /// `receive` is called on `queue` for every event, in order; the first say which peers are known and what state the
    /// host is in. Nothing is called before this returns.
    func open(
        _ role: ClientRole,
        on queue: DispatchQueue,
        receive: @escaping @Sendable (ClientEvent) -> Void
    ) -> any HostSession
}

/// One manager's conversation with a host.
package protocol HostSession: Sendable {
    /// Hands a request over and returns at once.
    ///
    /// Requests sent from one thread arrive in order.
    func send(_ request: ClientRequest)

    /// Ends the session: the host drops what this client alone wanted, and sends it nothing more.
    func close()
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
