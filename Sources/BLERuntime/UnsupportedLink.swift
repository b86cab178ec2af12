package import BLEHost
import Dispatch

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
