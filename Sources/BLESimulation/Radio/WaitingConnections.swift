import BLEWire

/// The connections that wait for a controller because another host still uses it, in the order in which they arrived.
///
/// A program that closes its connection and immediately opens the next one may have both open for a moment.
struct WaitingConnections<Connection> {
    /// The maximum number of waiting connections.
    ///
    /// Programs have no reason to open more.
    private static var limit: Int { 8 }

    private var connections: [(connection: Connection, deadline: Instant)] = []

    /// The next time at which to call ``expire(at:)``; `nil` if no connection is waiting.
    var deadline: Instant? { connections.first?.deadline }

    /// Adds a connection that waits until `deadline`, which is not before the deadline of any earlier connection.
    ///
    /// Returns `false` if too many are waiting.
    mutating func add(_ connection: Connection, until deadline: Instant) -> Bool {
        guard connections.count < Self.limit else { return false }
        connections.append((connection, deadline))
        return true
    }

    /// Removes and returns the connection that has waited longest; `nil` if none is waiting.
    mutating func next() -> Connection? { connections.isEmpty ? nil : connections.removeFirst().connection }

    /// Removes the connections whose deadline has passed; returns whether there were any.
    mutating func expire(at now: Instant) -> Bool {
        let count = connections.prefix { $0.deadline <= now }.count
        connections.removeFirst(count)
        return count > 0
    }
}
