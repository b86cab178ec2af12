package import BLEHost
package import BLERuntime

extension Machine {
    /// The user's decision on whether an app may use Bluetooth.
    public enum Authorization: Hashable, Sendable {
        /// The user has not decided.
        ///
        /// The user is asked when the app creates a manager, whose state is unknown until the answer.
        case notDetermined
        /// Not allowed, and the user cannot change that.
        case restricted
        /// Not allowed: the user has denied it.
        case denied
        /// The app may use Bluetooth.
        case allowed
    }

    /// One of several apps on a machine.
    ///
    /// Managers created within `inhabit` belong to this app; all others belong to the app called "App".
    public final class App: Sendable {
        /// The name by which stories and findings refer to the app.
        public let name: String
        /// The machine of the app.
        public let machine: Machine
        let index: Int

        init(name: String, index: Int, on machine: Machine) {
            self.name = name
            self.index = index
            self.machine = machine
        }

        /// Runs `body`; the managers that `body` creates belong to this app.
        public func inhabit<Result>(_ body: () async throws -> Result) async rethrows -> Result {
            try await Bluetooth.$link.withValue(self) { try await body() }
        }

        /// Runs `body`; the managers that `body` creates belong to this app.
        public func inhabit<Result>(_ body: () throws -> Result) rethrows -> Result {
            try Bluetooth.$link.withValue(self) { try body() }
        }

        /// The user's decision on whether the app may use Bluetooth.
        ///
        /// A test can change it while the app runs.
        ///
        /// Without permission, the app's managers are `.unauthorized`, and its connections, scan and services end. When
        /// the app is allowed again, its managers get the state of the radio, but nothing is restored.
        public var authorization: Authorization {
            get { machine.world.core.withLock { $0.stations[machine.index].apps[index].authorization } }
            set { machine.world.change { $0.authorize(index, on: machine.index, newValue) } }
        }
    }

    /// Returns the app called `name`, creating it if necessary.
    public func app(_ name: String) -> App {
        App(name: name, index: world.core.withLock { $0.stations[index].app(name) }, on: self)
    }

    /// The user's decision on whether the default app, called "App", may use Bluetooth.
    public var authorization: Authorization {
        get { app(AppRecord.standardName).authorization }
        set { app(AppRecord.standardName).authorization = newValue }
    }
}

extension Machine.App: HostLink {
    package var host: HostIdentity { machine.host }
    package var permission: HostAuthorization { HostAuthorization(authorization) }

    package func open(
        _ role: ClientRole,
        restoring identifier: String?,
        _ receiver: EventReceiver
    ) -> any HostSession {
        machine.open(role, of: index, restoring: identifier, receiver)
    }
}

extension HostAuthorization {
    init(_ authorization: Machine.Authorization) {
        self =
            switch authorization {
            case .notDetermined: .undetermined
            case .restricted: .restricted
            case .denied: .denied
            case .allowed: .allowed
            }
    }
}
