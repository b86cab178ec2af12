import BLEWire

/// The pending faults of a world that are planned for a packet or a step, and the counters of packets and steps.
struct FaultPlan {
    /// The pending faults, in the order in which they were planned.
    private var waiting: [World.Fault] = []
    /// The number of data packets so far between each machine's host and its controller.
    private(set) var packets: [Int] = []
    /// The number of times that the apps of each machine have taken each step.
    private var steps: [[String: Int]] = []

    /// The maximum number of different step names per machine.
    private static let mostSteps = 256

    mutating func add(_ fault: World.Fault) { waiting.append(fault) }

    /// Counts a data packet, and returns the faults that are planned for it.
    mutating func packetPassed(_ machine: Int, _ machineName: String) -> [World.Fault] {
        while packets.count <= machine { packets.append(0) }
        packets[machine] += 1
        let count = packets[machine]
        return waiting.isEmpty ? [] : take(machineName, .packet(count))
    }

    /// Counts a step, and returns the faults that are planned for it.
    mutating func stepTaken(_ name: String, _ machine: Int, _ machineName: String) -> [World.Fault] {
        while steps.count <= machine { steps.append([:]) }
        let count = (steps[machine][name] ?? 0) + 1
        guard count > 1 || steps[machine].count < Self.mostSteps else { return [] }
        steps[machine][name] = count
        return waiting.isEmpty ? [] : take(machineName, .step(name, count))
    }

    private mutating func take(_ machine: String, _ moment: World.Fault.Moment) -> [World.Fault] {
        let due = waiting.filter { $0.machine == machine && $0.moment == moment }
        if !due.isEmpty { waiting.removeAll { $0.machine == machine && $0.moment == moment } }
        return due
    }
}

/// The actions that are scheduled for a time.
struct Agenda {
    private var entries: [(due: Instant, action: WorldAction)] = []

    var deadline: Instant? { entries.first?.due }

    /// Schedules an action for the time `due`.
    ///
    /// Actions for the same time keep their order.
    mutating func add(_ action: WorldAction, at due: Instant) {
        let place = entries.firstIndex { $0.due > due } ?? entries.endIndex
        entries.insert((due, action), at: place)
    }

    mutating func takeDue(at now: Instant) -> [WorldAction] {
        let due = entries.prefix { $0.due <= now }.map(\.action)
        entries.removeFirst(due.count)
        return due
    }
}
