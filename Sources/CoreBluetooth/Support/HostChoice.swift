import BLEHost
import BLERuntime
import Dispatch

/// The host that a new manager talks to.
enum HostChoice {
    static var link: any HostLink { Bluetooth.link ?? MissingHost() }
}

/// What a manager talks to if there is no host: it hears that Bluetooth is not supported, and nothing else.
struct MissingHost: HostLink {
    func open(
        _: ClientRole,
        on queue: DispatchQueue,
        receive: @escaping @Sendable (ClientEvent) -> Void
    ) -> any HostSession {
        Console().warn(
            "There is no Bluetooth host to talk to. Set BLUETOOTH_HOST to the controller that should be used, "
                + "for example tcp:localhost:6402, or run the app in a simulated world."
        )
        queue.async { receive(.stateChanged(.unsupported)) }
        return Session()
    }

    private struct Session: HostSession {
        func send(_: ClientRequest) {}
        func close() {}
    }
}
