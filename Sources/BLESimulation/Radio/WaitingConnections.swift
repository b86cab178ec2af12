import BLEWire

/// Connections to a controller whose host is still there, in the order in which they came.
///
/// A program that closes its connection and makes the next one at once may have both for a moment.
struct WaitingConnections<Connection> {
    /// The most connections that wait; there is no reason for a program to make more.
    private static var limit: Int { 8 }

    private var connections: [(connection: Connection, deadline: Instant)] = []

    /// When to call ``expire(at:)``.
    var deadline: Instant? { connections.first?.deadline }

    /// Adds a connection that is refused at `deadline`, which is no earlier than those before; `false` if there are too
    /// many.
    mutating func add(_ connection: Connection, until deadline: Instant) -> Bool {
        guard connections.count < Self.limit else { return false }
        connections.append((connection, deadline))
        return true
    }

    /// Removes the connection that has waited for longest.
    mutating func next() -> Connection? { connections.isEmpty ? nil : connections.removeFirst().connection }

    /// Removes the connections whose time is over; returns whether there were any.
    mutating func expire(at now: Instant) -> Bool {
        let count = connections.prefix { $0.deadline <= now }.count
        connections.removeFirst(count)
        return count > 0
    }
}
