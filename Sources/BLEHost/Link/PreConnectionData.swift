import BLEWire

/// Data that arrived before the event that reports their link.
///
/// Over USB, events and data arrive on different paths, so a peer's first packet may overtake the connection event. If
/// it is an Exchange MTU Request and is lost, the peer waits 30 s for the response and then disconnects.
///
/// Core 6.0, Vol 4, Part B, 2.1.
struct PreConnectionData {
    /// The maximum time from the arrival of data to the event that reports their link.
    static let maximumAge = Duration.milliseconds(10)
    /// The time after the end of a link during which data with its handle are assumed to be left over from that link.
    static let staleDataTime = Duration.seconds(1)
    /// The maximum number of packets, and the maximum number of octets in each.
    static let limit = (packets: 16, octets: 1024)

    private struct Packet {
        let handle: ConnectionHandle
        let contents: [UInt8]
        let arrival: Instant
    }

    /// The stored packets, in the order of arrival.
    private var packets: [Packet] = []
    private var ended: [(handle: ConnectionHandle, at: Instant)] = []

    var isEmpty: Bool { packets.isEmpty }

    /// Stores a packet whose link is not known yet, unless a link with the same handle has just ended.
    mutating func store(_ contents: Span<UInt8>, of handle: ConnectionHandle, at now: Instant) {
        packets.removeAll { $0.arrival + Self.maximumAge < now }
        ended.removeAll { $0.at + Self.staleDataTime < now }
        guard packets.count < Self.limit.packets, contents.count <= Self.limit.octets,
            !ended.contains(where: { $0.handle == handle })
        else { return }
        packets.append(Packet(handle: handle, contents: [UInt8](copying: contents), arrival: now))
    }

    /// Removes and returns the packets of a link that has just been reported.
    mutating func take(of handle: ConnectionHandle, at now: Instant) -> [[UInt8]] {
        defer { packets.removeAll { $0.handle == handle } }
        return packets.filter { $0.handle == handle && now <= $0.arrival + Self.maximumAge }.map(\.contents)
    }

    /// Records the end of a link.
    mutating func linkEnded(_ handle: ConnectionHandle, at now: Instant) {
        ended.removeAll { $0.handle == handle || $0.at + Self.staleDataTime < now }
        ended.append((handle, now))
    }
}
