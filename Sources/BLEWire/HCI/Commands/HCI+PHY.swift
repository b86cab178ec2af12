extension HCI {
    /// The set of directions for which the host lets the controller choose the PHY.
    package struct NoPreference: OptionSet, WireField, Hashable, CustomStringConvertible {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }
        package init(wire: UInt8) { rawValue = wire }
        package var wire: UInt8 { rawValue }

        package static let transmitter = Self(rawValue: 1 << 0)
        package static let receiver = Self(rawValue: 1 << 1)
        package var description: String { names(of: ["transmitter", "receiver"]) }
    }

    /// The coding that the host prefers on the Coded PHY.
    ///
    /// The controller may ignore the preference.
    package struct CodingPreference: WireField, Hashable, CustomStringConvertible {
        package let wire: UInt16
        package init(wire: UInt16) { self.wire = wire }

        package static let none = Self(wire: 0)
        /// 500 kb/s.
        package static let two = Self(wire: 1)
        /// 125 kb/s.
        package static let eight = Self(wire: 2)

        package var description: String {
            switch self {
            case .none: "no preference"
            case .two: "S=2"
            case .eight: "S=8"
            default: "0x\(String(wire, radix: 16))"
            }
        }
    }

    /// Reads the PHYs of a connection.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.47.
    package struct LEReadPHY: HCICommand {
        package static var opcode: Opcode { .leReadPHY }

        package var handle = ConnectionHandle.lowest

        package init() {}
        package init(handle: ConnectionHandle) {
            self.handle = handle
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&handle, "Connection Handle")
        }
    }

    /// Sets the PHYs that the host prefers for new connections.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.48.
    package struct LESetDefaultPHY: HCICommand {
        package static var opcode: Opcode { .leSetDefaultPHY }
        package typealias Return = StatusReturn

        package var noPreference: NoPreference = []
        package var transmit: PHYSet = []
        package var receive: PHYSet = []

        package init() {}
        package init(noPreference: NoPreference = [], transmit: PHYSet, receive: PHYSet) {
            self.noPreference = noPreference
            self.transmit = transmit
            self.receive = receive
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&noPreference, "All PHYs")
            try wire.field(&transmit, "TX PHYs")
            try wire.field(&receive, "RX PHYs")
        }
    }

    /// Sets the PHYs that the host prefers for a connection.
    ///
    /// ``HCI/LEPHYUpdateComplete`` reports the result.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.49.
    package struct LESetPHY: HCICommand {
        package static var opcode: Opcode { .leSetPHY }
        package typealias Return = NoReturn

        package var handle = ConnectionHandle.lowest
        package var noPreference: NoPreference = []
        package var transmit: PHYSet = []
        package var receive: PHYSet = []
        package var coding = CodingPreference.none

        package init() {}
        package init(
            handle: ConnectionHandle,
            noPreference: NoPreference = [],
            transmit: PHYSet,
            receive: PHYSet,
            coding: CodingPreference = .none
        ) {
            self.handle = handle
            self.noPreference = noPreference
            self.transmit = transmit
            self.receive = receive
            self.coding = coding
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&handle, "Connection Handle")
            try wire.field(&noPreference, "All PHYs")
            try wire.field(&transmit, "TX PHYs")
            try wire.field(&receive, "RX PHYs")
            try wire.field(&coding, "PHY Options")
        }
    }
}

extension HCI.LEReadPHY {
    /// The return parameters: the PHYs that the controller uses to send and to receive on the connection.
    package struct Return: Packet {
        package var status = HCI.Status.success
        package var handle = ConnectionHandle.lowest
        package var transmit = PHY.none
        package var receive = PHY.none

        package init() {}
        package init(status: HCI.Status, handle: ConnectionHandle, transmit: PHY, receive: PHY) {
            self.status = status
            self.handle = handle
            self.transmit = transmit
            self.receive = receive
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&status, "Status")
            try wire.handle(&handle, after: status)
            try wire.field(&transmit, "TX PHY")
            try wire.field(&receive, "RX PHY")
        }
    }
}
