/// The parameters of one command.
///
/// Core 6.0, Vol 4, Part E, 5.4.1.
package protocol HCICommand: Packet {
    /// What the controller answers in Command Complete; ``HCI/NoReturn`` if it answers with Command Status.
    associatedtype Return: Packet
    static var opcode: HCI.Opcode { get }
}

/// The parameters of one event that is not Low Energy's alone.
///
/// Core 6.0, Vol 4, Part E, 5.4.4.
package protocol HCIEvent: Packet {
    static var code: HCI.EventCode { get }
}

/// The parameters of one Low Energy event, after its subevent code.
///
/// Core 6.0, Vol 4, Part E, 7.7.65.
package protocol HCILEEvent: Packet {
    static var subevent: HCI.LESubevent { get }
}

extension HCI {
    /// The return parameters of a command that answers whether it worked and nothing else.
    package struct StatusReturn: Packet {
        package var status = Status.success

        package init() {}
        package init(status: Status) { self.status = status }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&status, "Status")
        }
    }

    /// The return parameters of a command about a connection that answers nothing but whether it worked.
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

    /// The return parameters of a command that has none, since Command Status and a later event answer it.
    package struct NoReturn: Packet {
        package init() {}
        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {}
    }
}
