package import BLEWire

/// One HCI packet that passed between a host and its controller.
package struct PacketRecord: Equatable, Sendable {
    /// Which way a packet went.
    package enum Direction: UInt8, Sendable {
        case toController = 0, toHost = 1
    }

    /// The name of the machine, or of the controller's address outside a world.
    package var machine: String
    package var direction: Direction
    /// When it passed, in the time of the host or the world.
    package var time: Instant
    /// The packet as H4 carries it, with its indicator.
    package var bytes: [UInt8]

    package init(machine: String, direction: Direction, time: Instant, bytes: [UInt8]) {
        self.machine = machine
        self.direction = direction
        self.time = time
        self.bytes = bytes
    }
}

/// Hears of every packet, at the moment at which it passes.
///
/// Called in the order of the packets, never twice at once, on whatever thread drives the host: it must be quick, and
/// must not call back into the host or the world.
package typealias PacketTap = @Sendable (PacketRecord) -> Void
