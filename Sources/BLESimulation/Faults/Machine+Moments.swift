import BLERuntime
import BLEWire

extension Machine {
    /// Says that something of a name has happened, for faults that are to come then.
    ///
    /// See ``World/Fault/Moment/step(_:_:)``.
    public func reach(_ step: String) { world.change { $0.countStep(step, on: index) } }

    /// Has the machine walk somewhere in a straight line: signals get weaker and stronger on the way.
    public func walk(to position: World.Position, taking duration: Duration) {
        world.change { $0.walk(index, to: position, taking: duration) }
    }

    /// Has the controller start anew in the middle of what it does: links are lost, and apps hear that Bluetooth is
    /// resetting.
    public func resetController() { world.tell(.strike(.controllerReset, machine: name)) }

    /// How many packets of data the machine's host and its controller have exchanged, both ways together.
    public var packetCount: Int {
        world.core.withLock { $0.faultPlan.packets.indices.contains(index) ? $0.faultPlan.packets[index] : 0 }
    }
}
