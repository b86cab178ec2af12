extension Machine {
    /// The way in which apps end.
    public enum AppEnd: Hashable, Sendable {
        /// The app crashed.
        case crash
        /// The system ended it, because of memory or time limits.
        case terminatedBySystem
        /// The user quit it: nothing is preserved, and the app is not launched again automatically.
        case quitByUser
    }

    /// The reason of a launch: the restore identifiers of the managers to create again.
    ///
    /// On a phone, an app finds them in its launch options, as `bluetoothCentrals` and `bluetoothPeripherals`.
    public struct Launch: Hashable, Sendable {
        /// The identifiers of central managers.
        public let centrals: [String]
        /// The identifiers of peripheral managers.
        public let peripherals: [String]

        /// Creates a launch for these managers.
        public init(centrals: [String] = [], peripherals: [String] = []) {
            self.centrals = centrals
            self.peripherals = peripherals
        }
    }

    /// A closure that launches an app.
    ///
    /// Managers that it creates use the machine's radio.
    public typealias Launcher = @MainActor @Sendable (Launch) -> Void

    /// Ends all apps of the machine, as if their process had ended: their managers get no more events.
    ///
    /// Unless the user quit them, the activities of managers with a restore identifier continue as for an app in the
    /// background: scans that name services, connections, pending connections, subscriptions, services and the
    /// advertisement. A manager created afterwards with the same identifier gets `willRestoreState`, and then the
    /// events since. A role without a declared background mode is not preserved.
    public func endApps(_ end: AppEnd) { world.change { $0.endApps(of: index, end) } }

    /// Sets the closure that launches the apps of the machine when an event arrives for them after they have ended,
    /// once each time.
    ///
    /// Requests of centrals wait for the launched app; without a launcher, they are refused. The world retains
    /// `launcher`: if that retains the world or one of its machines, neither is ever released.
    public func onLaunch(_ launcher: @escaping Launcher) {
        world.change { $0.stations[index].launcher = launcher }
    }

    /// Restarts the machine: its apps end, it leaves the air, and returns 20 seconds later.
    ///
    /// It keeps known peers with their identifiers, and bonds. The preserved state of apps is requested again:
    /// connections are re-established when the peripherals are there, services are published and advertised.
    public func restart() { world.change { $0.restart(index) } }
}
