import BLERuntime
import BLEWire

extension Machine {
    /// Reports that the app has reached the step with this name; the faults that are planned for this step then happen.
    ///
    /// See ``World/Fault/Moment/step(_:_:)``.
    public func reach(_ step: String) { world.change { $0.countStep(step, on: index) } }

    /// Moves the machine in a straight line during `duration`.
    ///
    /// Signal strengths change on the way. The walk ends early when ``move(to:)`` or another walk begins.
    public func walk(to position: World.Position, taking duration: Duration) {
        world.enqueue(.walk(machine: index, to: position, taking: duration))
    }

    /// Resets the controller: links are lost, and the state of managers becomes `.resetting` for a moment.
    public func resetController() { world.enqueue(.startFault(.controllerReset, machine: name)) }

    /// The number of data packets between the machine's host and its controller, in both directions together.
    public var packetCount: Int {
        world.core.withLock { $0.faultPlan.packets.indices.contains(index) ? $0.faultPlan.packets[index] : 0 }
    }
}
