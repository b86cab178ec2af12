import BLEWire

/// Data of links of which the controller has not told yet.
///
/// Over USB, events and data come by ways of their own, and the first packet of a peer may be ahead of the event that
/// says that there is a link. A peer whose Exchange MTU Request is lost by that waits 30 s for the answer, and then
/// leaves.
///
/// Core 6.0, Vol 4, Part B, 2.1.
struct EarlyData {
    /// How long data may be ahead of the event.
    static let patience = Duration.milliseconds(10)
    /// For how long after the end of a link what comes for its handle is taken for the rest of it.
    static let rest = Duration.seconds(1)
    /// How many packets are kept, of so many octets each.
    static let limit = (packets: 16, octets: 1024)

    private struct Packet {
        let handle: ConnectionHandle
        let contents: [UInt8]
        let arrival: Instant
    }

    /// In the order in which they came.
    private var packets: [Packet] = []
    private var ended: [(handle: ConnectionHandle, at: Instant)] = []

    var isEmpty: Bool { packets.isEmpty }

    /// Keeps a packet of a link that there is not, if it may be one that comes too early.
    mutating func keep(_ contents: Span<UInt8>, of handle: ConnectionHandle, at now: Instant) {
        packets.removeAll { $0.arrival + Self.patience < now }
        ended.removeAll { $0.at + Self.rest < now }
        guard packets.count < Self.limit.packets, contents.count <= Self.limit.octets,
            !ended.contains(where: { $0.handle == handle })
        else { return }
        packets.append(Packet(handle: handle, contents: [UInt8](copying: contents), arrival: now))
    }

    /// Hands out what came for a link that is there now.
    mutating func take(of handle: ConnectionHandle, at now: Instant) -> [[UInt8]] {
        defer { packets.removeAll { $0.handle == handle } }
        return packets.filter { $0.handle == handle && now <= $0.arrival + Self.patience }.map(\.contents)
    }

    /// Notes that a link has ended.
    mutating func linkEnded(_ handle: ConnectionHandle, at now: Instant) {
        ended.removeAll { $0.handle == handle || $0.at + Self.rest < now }
        ended.append((handle, now))
    }
}
