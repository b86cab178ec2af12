package import BLEWire

/// An HCI packet between a host and its controller.
package struct PacketRecord: Equatable, Sendable {
    /// The direction of a packet.
    package enum Direction: UInt8, Sendable {
        case toController = 0, toHost = 1
    }

    package var source: PacketSource
    package var direction: Direction
    /// The time of the packet: of the host or world, or since 1970 in a capture.
    package var time: Instant
    /// The H4 packet, including its indicator.
    package var bytes: [UInt8]
    /// Octets at the end of the packet that a capture did not keep.
    package var missing = 0

    /// The name of the machine, or the controller's address outside of worlds.
    package var machine: String { source.machine }

    package init(source: PacketSource, direction: Direction, time: Instant, bytes: [UInt8], missing: Int = 0) {
        self.source = source
        self.direction = direction
        self.time = time
        self.bytes = bytes
        self.missing = missing
    }

    package init(machine: String, direction: Direction, time: Instant, bytes: [UInt8]) {
        self.init(source: PacketSource(machine: machine), direction: direction, time: time, bytes: bytes)
    }
}

/// The source of packets: a host and its controller.
package struct PacketSource: Hashable, Sendable {
    /// The name and process number of the host's program; empty in a world and if unknown.
    package var program: String
    /// The name of the machine, or the controller's address outside of worlds.
    package var machine: String

    package init(program: String = "", machine: String) {
        self.program = program
        self.machine = machine
    }
}

/// A closure that receives every packet immediately.
///
/// It is called in the order of the packets, never concurrently, on the thread that drives the host. It must be fast
/// and must not call the host or world.
package typealias PacketTap = @Sendable (PacketRecord) -> Void
