extension Machine {
    /// The reason why apps end: a crash, the system or the user.
    public enum AppEnd: Hashable, Sendable {
        /// The app crashed.
        case crash
        /// The system ended the app, because of memory or time limits.
        case terminatedBySystem
        /// The user quit the app: nothing is preserved, and the app is not launched again automatically.
        case quitByUser
    }

    /// The restore identifiers of the managers that a launched app must create again.
    ///
    /// On a phone, an app finds them in its launch options, as `bluetoothCentrals` and `bluetoothPeripherals`.
    public struct Launch: Hashable, Sendable {
        /// The restore identifiers of central managers.
        public let centrals: [String]
        /// The restore identifiers of peripheral managers.
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
    /// Unless the user quit the apps, the activities of managers with a restore identifier continue as for an app in
    /// the background: scans that name services, connections, pending connections, subscriptions, services and the
    /// advertisement. A manager that is created later with the same identifier receives `willRestoreState`, and then
    /// the events that have occurred since. A manager whose role has no declared background mode is not preserved.
    public func endApps(_ end: AppEnd) { world.change { $0.endApps(of: index, end) } }

    /// Sets the closure that launches the apps of the machine.
    ///
    /// After the apps have ended, it is called once, for the first event that requires a launch.
    ///
    /// Requests from centrals wait for the launched app; without a launcher, they are refused. The world retains
    /// `launcher`: if the closure retains the world or one of its machines, the world is never released.
    public func onLaunch(_ launcher: @escaping Launcher) {
        var earlier: Launcher?
        world.change { core in
            earlier = core.stations[index].launcher
            core.stations[index].launcher = launcher
        }
        // The earlier launcher may own managers, which lock the world when they are released.
        withExtendedLifetime(earlier) {}
    }

    /// Restarts the machine: its apps end, it leaves the air, and returns 20 seconds later.
    ///
    /// The machine keeps bonds and the identifiers of known peers. After the restart, it resumes the preserved
    /// activities of apps: it connects to their peripherals again when these are in range, and publishes and advertises
    /// their services.
    public func restart() { world.change { $0.restart(index) } }
}
