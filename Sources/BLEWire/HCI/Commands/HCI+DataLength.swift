extension HCI {
    /// Suggests the maximum length of the packets that the controller sends on a connection.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.33.
    package struct LESetDataLength: HCICommand {
        package static var opcode: Opcode { .leSetDataLength }
        package typealias Return = HandleReturn

        package var handle = ConnectionHandle.lowest
        /// The maximum payload of a packet, 27 to 251 octets.
        package var octets: UInt16 = 0
        /// The maximum duration of a packet, 328 to 17,040 µs.
        package var time: UInt16 = 0

        package init() {}
        package init(handle: ConnectionHandle, octets: UInt16, time: UInt16) {
            self.handle = handle
            self.octets = octets
            self.time = time
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&handle, "Connection Handle")
            try wire.integer(&octets, "TX Octets")
            try wire.integer(&time, "TX Time")
        }
    }

    /// Reads the maximum packet length that the host has suggested for new connections.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.34.
    package struct LEReadSuggestedDefaultDataLength: HCICommand {
        package static var opcode: Opcode { .leReadSuggestedDefaultDataLength }

        package init() {}

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {}
    }

    /// Suggests the maximum length of the packets that the controller sends on new connections.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.35.
    package struct LEWriteSuggestedDefaultDataLength: HCICommand {
        package static var opcode: Opcode { .leWriteSuggestedDefaultDataLength }
        package typealias Return = StatusReturn

        /// The maximum payload of a packet, 27 to 251 octets.
        package var octets: UInt16 = 0
        /// The maximum duration of a packet, 328 to 17,040 µs.
        package var time: UInt16 = 0

        package init() {}
        package init(octets: UInt16, time: UInt16) {
            self.octets = octets
            self.time = time
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.integer(&octets, "Suggested Max TX Octets")
            try wire.integer(&time, "Suggested Max TX Time")
        }
    }

    /// Reads the maximum packet lengths that the controller supports.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.46.
    package struct LEReadMaximumDataLength: HCICommand {
        package static var opcode: Opcode { .leReadMaximumDataLength }

        package init() {}

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {}
    }
}

extension HCI.LEReadSuggestedDefaultDataLength {
    /// The return parameters: the maximum packet length that the host has suggested for new connections.
    package struct Return: Packet {
        package var status = HCI.Status.success
        /// The maximum payload of a packet, 27 to 251 octets.
        package var octets: UInt16 = 0
        /// The maximum duration of a packet, 328 to 17,040 µs.
        package var time: UInt16 = 0

        package init() {}
        package init(status: HCI.Status, octets: UInt16, time: UInt16) {
            self.status = status
            self.octets = octets
            self.time = time
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&status, "Status")
            try wire.integer(&octets, "Suggested Max TX Octets")
            try wire.integer(&time, "Suggested Max TX Time")
        }
    }
}

extension HCI.LEReadMaximumDataLength {
    /// The return parameters: the maximum packet lengths that the controller supports.
    package struct Return: Packet {
        package var status = HCI.Status.success
        /// The maximum payload of a packet that the controller can send, 27 to 251 octets.
        package var transmitOctets: UInt16 = 0
        /// The maximum duration of a packet that the controller can send, 328 to 17,040 µs.
        package var transmitTime: UInt16 = 0
        /// The maximum payload of a packet that the controller can receive, 27 to 251 octets.
        package var receiveOctets: UInt16 = 0
        /// The maximum duration of a packet that the controller can receive, 328 to 17,040 µs.
        package var receiveTime: UInt16 = 0

        package init() {}
        package init(
            status: HCI.Status,
            transmitOctets: UInt16,
            transmitTime: UInt16,
            receiveOctets: UInt16,
            receiveTime: UInt16
        ) {
            self.status = status
            self.transmitOctets = transmitOctets
            self.transmitTime = transmitTime
            self.receiveOctets = receiveOctets
            self.receiveTime = receiveTime
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&status, "Status")
            try wire.integer(&transmitOctets, "Supported Max TX Octets")
            try wire.integer(&transmitTime, "Supported Max TX Time")
            try wire.integer(&receiveOctets, "Supported Max RX Octets")
            try wire.integer(&receiveTime, "Supported Max RX Time")
        }
    }
}
