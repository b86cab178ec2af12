package import BLEWire

/// One HCI packet that passed between a host and its controller.
package struct PacketRecord: Equatable, Sendable {
    /// Which way a packet went.
    package enum Direction: UInt8, Sendable {
        case toController = 0, toHost = 1
    }

    package var source: PacketSource
    package var direction: Direction
    /// When it passed: in the time of the host or the world; of what a capture holds, since 1970.
    package var time: Instant
    /// The packet as H4 carries it, with its indicator.
    package var bytes: [UInt8]
    /// Octets at the end of the packet that a capture did not keep.
    package var missing = 0

    /// The name of the machine, or of the controller's address outside a world.
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

/// Between which host and controller packets passed.
package struct PacketSource: Hashable, Sendable {
    /// The name of the program that the host is in, and the number of its process; empty in a world, and where nobody
    /// has said.
    package var program: String
    /// The name of the machine, or of the controller's address outside a world.
    package var machine: String

    package init(program: String = "", machine: String) {
        self.program = program
        self.machine = machine
    }
}

/// Hears of every packet, at the moment at which it passes.
///
/// Called in the order of the packets, never twice at once, on whatever thread drives the host: it must be quick, and
/// must not call back into the host or the world.
package typealias PacketTap = @Sendable (PacketRecord) -> Void
