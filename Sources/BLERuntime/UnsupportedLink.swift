package import BLEHost
package import Dispatch

/// What an app talks to when there is no host: managers that say that Bluetooth is not supported.
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
        on queue: DispatchQueue,
        receive: @escaping @Sendable (ClientEvent) -> Void
    ) -> any HostSession {
        queue.async { receive(.stateChanged(.unsupported)) }
        return Session()
    }
}
