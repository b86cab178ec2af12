import BLEWire

/// The faults of a world that have yet to come, and what they wait for.
struct FaultPlan {
    /// In the order in which they were planned.
    private var waiting: [World.Fault] = []
    /// How many packets of data each machine has exchanged with its controller.
    private(set) var packets: [Int] = []
    /// How often each machine has taken each step.
    private var steps: [[String: Int]] = []

    /// The most steps of different names that are counted for a machine.
    private static let mostSteps = 256

    mutating func add(_ fault: World.Fault) { waiting.append(fault) }

    /// Counts a packet of data, and returns what is due because of it.
    mutating func packetPassed(_ machine: Int, _ machineName: String) -> [World.Fault] {
        while packets.count <= machine { packets.append(0) }
        packets[machine] += 1
        let count = packets[machine]
        return waiting.isEmpty ? [] : take(machineName, .packet(count))
    }

    /// Counts a step, and returns what is due because of it.
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

/// What is to happen at a time of its own.
struct Agenda {
    private var entries: [(due: Instant, action: WorldAction)] = []

    var deadline: Instant? { entries.first?.due }

    /// Of what is due at the same time, what came first is done first.
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
