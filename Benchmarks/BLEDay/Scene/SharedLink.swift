import CoreBluetooth

/// The key of a link: the machine and its peer.
struct LinkName: Hashable {
    private let machine: String
    private let peripheral: UUID

    init(_ machine: String, _ peripheral: UUID) {
        self.machine = machine
        self.peripheral = peripheral
    }
}

/// A link that the apps of a machine share.
///
/// It exists from the connection of the first app until no app is connected.
///
/// A server keeps its state about a client for all apps of the client's machine, so this state may be older than the
/// connection of an app.
struct SharedLink {
    private var users = 0
    private var since = Duration.zero
    private var left: Duration?

    /// Adds an app that is connected over the link.
    ///
    /// If an app connects at the same instant at which the last one left, the link is the same, because a new link
    /// takes longer.
    ///
    /// - Returns: The time at which the link began.
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
