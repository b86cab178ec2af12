/// The parameters of an HCI command.
///
/// Core 6.0, Vol 4, Part E, 5.4.1.
package protocol HCICommand: Packet {
    /// The return parameters in Command Complete; ``HCI/NoReturn`` if controllers respond to the command with Command
    /// Status.
    associatedtype Return: Packet
    static var opcode: HCI.Opcode { get }
}

/// The parameters of an HCI event that is not an LE event.
///
/// Core 6.0, Vol 4, Part E, 5.4.4.
package protocol HCIEvent: Packet {
    static var code: HCI.EventCode { get }
}

/// The parameters of an LE event that follow its subevent code.
///
/// Core 6.0, Vol 4, Part E, 7.7.65.
package protocol HCILEEvent: Packet {
    static var subevent: HCI.LESubevent { get }
}

extension HCI {
    /// Return parameters that consist only of a status.
    package struct StatusReturn: Packet {
        package var status = Status.success

        package init() {}
        package init(status: Status) { self.status = status }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&status, "Status")
        }
    }

    /// Return parameters that consist only of a status and a connection handle.
    package struct HandleReturn: Packet {
        package var status = Status.success
        package var handle = ConnectionHandle.lowest

        package init() {}
        package init(status: Status, handle: ConnectionHandle) {
            self.status = status
            self.handle = handle
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&status, "Status")
            try wire.handle(&handle, after: status)
        }
    }

    /// The empty return parameters of commands to which controllers respond with Command Status and a later event.
    package struct NoReturn: Packet {
        package init() {}
        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {}
    }
}
