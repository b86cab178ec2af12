import CoreBluetooth

/// Which link of a machine.
struct LinkName: Hashable {
    private let machine: String
    private let peripheral: UUID

    init(_ machine: String, _ peripheral: UUID) {
        self.machine = machine
        self.peripheral = peripheral
    }
}

/// A link that the apps of a machine share: it is there from when the first of them is connected until none is.
///
/// What a server knows of its client concerns the machine, and goes back to before an app joined.
struct SharedLink {
    private var users = 0
    private var since = Duration.zero
    private var left: Duration?

    /// Adds an app.
    ///
    /// One that comes at the very moment at which the last one went has the same link, since another takes longer.
    ///
    /// - Returns: Since when there is the link.
    mutating func join(at now: Duration) -> Duration {
        if users == 0, left != now { since = now }
        users += 1
        return since
    }

    mutating func leave(at now: Duration) {
        users -= 1
        left = now
    }
}
