extension Machine {
    /// How apps end.
    public enum AppEnd: Hashable, Sendable {
        /// The app did something wrong.
        case crash
        /// The system needed the memory, or thought that the app took too long.
        case terminatedBySystem
        /// The user wanted it: nothing is preserved, and the app is not launched again by itself.
        case quitByUser
    }

    /// Why an app is launched: the managers that it is to create again, by their restore identifiers.
    ///
    /// On a phone an app finds these in its launch options, under `bluetoothCentrals` and `bluetoothPeripherals`.
    public struct Launch: Hashable, Sendable {
        /// Of central managers.
        public let centrals: [String]
        /// Of peripheral managers.
        public let peripherals: [String]

        /// Creates the launch of an app for these managers.
        public init(centrals: [String] = [], peripherals: [String] = []) {
            self.centrals = centrals
            self.peripherals = peripherals
        }
    }

    /// Launches an app; managers that it creates use the radio of the machine.
    public typealias Launcher = @MainActor @Sendable (Launch) -> Void

    /// Ends all apps of the machine, as if their process were gone: their managers hear nothing more.
    ///
    /// Unless the user quit them, what managers with a restore identifier asked for goes on without them, as for an app
    /// in the background: their scan if it names services, their connections and subscriptions, and those that they
    /// wait for, their services and their advertisement. A manager that is created afterwards with the same identifier
    /// is told of it by `willRestoreState`, and then hears what has happened since. A role that apps in the background
    /// have not declared is not preserved.
    public func endApps(_ end: AppEnd) { world.change { $0.endApps(of: index, end) } }

    /// Has `launcher` launch the apps of the machine when something happens that they are to hear of and they have
    /// ended, once each time that they end.
    ///
    /// Centrals that want something of services whose app has ended wait for it then; without a launcher they are
    /// refused. The world keeps `launcher`: one that holds the world or a machine of it keeps them for ever.
    public func onLaunch(_ launcher: @escaping Launcher) {
        world.change { $0.stations[index].launcher = launcher }
    }

    /// Switches the machine off and on: its apps end, it leaves the air, and 20 seconds later it is there again.
    ///
    /// It knows the peers that it knew, by the same identifiers, and the bonds with them. What was preserved for apps
    /// is asked for again: peripherals that were connected are connected again when they are there, services are
    /// published and advertised.
    public func restart() { world.change { $0.restart(index) } }
}
