package import BLEWire

/// An HCI packet between a host and its controller.
package struct PacketRecord: Equatable, Sendable {
    /// The direction of a packet.
    package enum Direction: UInt8, Sendable {
        case toController = 0, toHost = 1
    }

    package var source: PacketSource
    package var direction: Direction
    /// The time of the packet, on the clock of the host or world; in a capture, since 1970.
    package var time: Instant
    /// The octets of the packet, starting with its H4 indicator.
    package var bytes: [UInt8]
    /// The number of octets at the end of the packet that a capture did not keep.
    package var missing = 0

    /// The name of the machine; outside of simulated worlds, the name of the transport to the controller.
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
    /// The name and process ID of the host's program; empty if unknown, and in simulated worlds.
    package var program: String
    /// The name of the machine; outside of simulated worlds, the name of the transport to the controller.
    package var machine: String

    package init(program: String = "", machine: String) {
        self.program = program
        self.machine = machine
    }
}

/// A closure that receives every packet immediately.
///
/// It is called in the order of the packets, never concurrently, on the thread that runs the host. It must be fast, and
/// must not call the host or world.
package typealias PacketTap = @Sendable (PacketRecord) -> Void
