package import BLEHost
package import BLERuntime

extension Machine {
    /// Whether an app may use Bluetooth, as its user has decided.
    public enum Authorization: Hashable, Sendable {
        /// The user is asked as soon as the app makes a manager, whose state is unknown until there is an answer.
        case notDetermined
        /// It may not, and the user cannot change that.
        case restricted
        /// The user said no.
        case denied
        /// It may.
        case allowed
    }

    /// One of several apps on a machine.
    ///
    /// Managers that are made within `inhabit` are those of this app; what is not made in an app of a name belongs to
    /// the one called "App".
    public final class App: Sendable {
        /// What the app is called.
        public let name: String
        /// Where it runs.
        public let machine: Machine
        let index: Int

        init(name: String, index: Int, on machine: Machine) {
            self.name = name
            self.index = index
            self.machine = machine
        }

        /// Runs `body` as this app.
        public func inhabit<Result>(_ body: () async throws -> Result) async rethrows -> Result {
            try await Bluetooth.$link.withValue(self) { try await body() }
        }

        /// Runs `body` as this app.
        public func inhabit<Result>(_ body: () throws -> Result) rethrows -> Result {
            try Bluetooth.$link.withValue(self) { try body() }
        }

        /// Whether the app may use Bluetooth; it may change while the app runs.
        ///
        /// An app that may not is `.unauthorized`: its connections, its scan and its services are gone. When it may
        /// again it hears what the state of the radio is, and has nothing of before.
        public var authorization: Authorization {
            get { machine.world.core.withLock { $0.stations[machine.index].apps[index].authorization } }
            set { machine.world.change { $0.authorize(index, on: machine.index, newValue) } }
        }
    }

    /// The app called `name`, which is there from now on.
    public func app(_ name: String) -> App {
        App(name: name, index: world.core.withLock { $0.stations[index].app(name) }, on: self)
    }

    /// Whether the app called "App", to which all belongs that is made in no other, may use Bluetooth.
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
