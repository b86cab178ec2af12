import BLERuntime
import BLEWire

/// A running digest of packets (64-bit FNV-1a).
struct TraceHash: Sendable {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    /// Adds a packet with its machine, direction and time to the digest.
    mutating func add(_ packet: Span<UInt8>, machine: Int, _ direction: PacketRecord.Direction, at time: Instant) {
        mix(UInt64(truncatingIfNeeded: time.nanoseconds))
        mix(UInt64(truncatingIfNeeded: machine) << 1 | UInt64(direction.rawValue))
        mix(UInt64(truncatingIfNeeded: packet.count))
        var word: UInt64 = 0
        for index in packet.indices {
            word = word << 8 | UInt64(packet[index])
            if index & 7 == 7 { mix(word) }
        }
        if packet.count & 7 != 0 { mix(word) }
    }

    private mutating func mix(_ word: UInt64) {
        value = (value ^ word) &* 0x100_0000_01B3
        value ^= value >> 29
    }
}
