import BLEWire

/// A movement of a machine in a straight line, in steps of at least 100 ms.
struct Walk: Sendable {
    /// The maximum number of steps; a walk that takes longer than a day has longer steps.
    private static let mostSteps = 864_000.0
    private static let shortestStep = Duration.milliseconds(100)

    /// The number of this movement among all movements of its machine.
    let number: Int
    private let start: World.Position
    private let end: World.Position
    private let began: Instant
    private let duration: Duration
    private let steps: Int
    private var step = 1

    /// Creates a walk that begins at `began`.
    ///
    /// A walk whose duration is not positive has one step, at `began`.
    init(
        number: Int,
        from start: World.Position,
        to end: World.Position,
        taking duration: Duration,
        at began: Instant
    ) {
        self.number = number
        self.start = start
        self.end = end
        self.began = began
        self.duration = max(.zero, duration)
        steps = max(1, Int(min(self.duration / Self.shortestStep, Self.mostSteps)))
    }

    /// The time of the next step; `nil` if the walk is over.
    var deadline: Instant? { step <= steps ? began + duration * share : nil }

    /// Takes the next step, and returns the position that it leads to.
    mutating func takeStep() -> World.Position {
        let share = share
        step += 1
        return World.Position(
            x: start.x + (end.x - start.x) * share,
            y: start.y + (end.y - start.y) * share,
            z: start.z + (end.z - start.z) * share
        )
    }

    /// The share of the walk that is completed by the next step.
    private var share: Double { Double(step) / Double(steps) }
}
