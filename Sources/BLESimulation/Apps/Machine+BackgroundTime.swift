import BLERuntime
import BLEWire

extension Machine {
    /// An app's request for background execution time, as with `beginBackgroundTask` on Apple's systems.
    public final class BackgroundTask: Sendable {
        private let machine: Machine
        private let number: Int

        init(_ number: Int, on machine: Machine) {
            self.number = number
            self.machine = machine
        }

        /// Ends the background task.
        public func end() {
            machine.world.change { core in
                core.stations[machine.index].backgroundTasks.removeAll { $0 == number }
            }
        }
    }

    /// Lets the apps of the machine work in the background for `duration`, instead of about ten seconds after each
    /// wake-up.
    ///
    /// iOS has allowed 30 seconds since version 13; earlier versions allowed three minutes.
    ///
    /// If the task has not ended after `duration` and the apps are in the background, that is a ``World/Finding``.
    public func beginBackgroundTask(lasting duration: Duration = .seconds(30)) -> BackgroundTask {
        let number = world.core.withLock { core in
            core.taskCount += 1
            core.stations[index].backgroundTasks.append(core.taskCount)
            core.agenda.add(.expireTask(machine: index, core.taskCount), at: core.now + duration)
            return core.taskCount
        }
        world.nudge()
        return BackgroundTask(number, on: self)
    }

    /// True if the system ends apps that work too long in the background, as ``AppEnd/terminatedBySystem``.
    ///
    /// Working too long is a ``World/Finding`` even if this is `false`.
    public var endsLateApps: Bool {
        get { world.core.withLock { $0.stations[index].endsLateApps } }
        set { world.change { $0.stations[index].endsLateApps = newValue } }
    }
}
