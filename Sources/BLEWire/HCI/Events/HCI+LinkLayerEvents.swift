extension HCI {
    /// Reports that the maximum packet lengths of a connection have changed.
    ///
    /// Core 6.0, Vol 4, Part E, 7.7.65.7.
    package struct LEDataLengthChange: HCILEEvent {
        package static var subevent: LESubevent { .dataLengthChange }

        package var handle = ConnectionHandle.lowest
        /// The maximum payload of a packet that the controller sends, 27 to 251 octets.
        package var transmitOctets: UInt16 = 0
        /// The maximum duration of a packet that the controller sends, 328 to 17,040 µs.
        package var transmitTime: UInt16 = 0
        /// The maximum payload of a packet that the controller receives, 27 to 251 octets.
        package var receiveOctets: UInt16 = 0
        /// The maximum duration of a packet that the controller receives, 328 to 17,040 µs.
        package var receiveTime: UInt16 = 0

        package init() {}
        package init(
            handle: ConnectionHandle,
            transmitOctets: UInt16,
            transmitTime: UInt16,
            receiveOctets: UInt16,
            receiveTime: UInt16
        ) {
            self.handle = handle
            self.transmitOctets = transmitOctets
            self.transmitTime = transmitTime
            self.receiveOctets = receiveOctets
            self.receiveTime = receiveTime
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&handle, "Connection Handle")
            try wire.integer(&transmitOctets, "Max TX Octets")
            try wire.integer(&transmitTime, "Max TX Time")
            try wire.integer(&receiveOctets, "Max RX Octets")
            try wire.integer(&receiveTime, "Max RX Time")
        }
    }

    /// Reports that the PHYs of a connection have changed, or that an update has failed.
    ///
    /// Core 6.0, Vol 4, Part E, 7.7.65.12.
    package struct LEPHYUpdateComplete: HCILEEvent {
        package static var subevent: LESubevent { .phyUpdateComplete }

        package var status = Status.success
        package var handle = ConnectionHandle.lowest
        package var transmit = PHY.none
        package var receive = PHY.none

        package init() {}
        package init(status: Status, handle: ConnectionHandle, transmit: PHY, receive: PHY) {
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

    /// Reports the channel selection algorithm that a new connection uses.
    ///
    /// Core 6.0, Vol 4, Part E, 7.7.65.20.
    package struct LEChannelSelectionAlgorithm: HCILEEvent {
        package static var subevent: LESubevent { .channelSelectionAlgorithm }

        package var handle = ConnectionHandle.lowest
        /// The algorithm: 0 for #1, 1 for #2.
        package var algorithm: UInt8 = 0

        package init() {}
        package init(handle: ConnectionHandle, algorithm: UInt8) {
            self.handle = handle
            self.algorithm = algorithm
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&handle, "Connection Handle")
            try wire.integer(&algorithm, "Channel Selection Algorithm")
        }
    }

    /// Reports that the transmit power at one end of a connection has changed.
    ///
    /// Core 6.0, Vol 4, Part E, 7.7.65.33.
    package struct LETransmitPowerReporting: HCILEEvent {
        package static var subevent: LESubevent { .transmitPowerReporting }

        package var status = Status.success
        package var handle = ConnectionHandle.lowest
        /// The reason for the event: 0 for a change of the local transmit power, 1 for a change of the peer's, 2 for
        /// the result of a read command.
        package var reason: UInt8 = 0
        package var phy = PowerPHY(wire: 0)
        package var power = TransmitPower.unavailable
        /// Bit 0 is set if the power is at its minimum, bit 1 if it is at its maximum.
        package var flags: UInt8 = 0
        /// The change in decibels; 127 if it is unknown.
        package var change = TransmitPower.unavailable

        /// A PHY in reports about power, with different values for the two codings of the Coded PHY.
        package struct PowerPHY: WireField, Hashable, CustomStringConvertible {
            package let wire: UInt8
            package init(wire: UInt8) { self.wire = wire }

            package var description: String {
                switch wire {
                case 1: "LE 1M"
                case 2: "LE 2M"
                case 3: "LE Coded, S=8"
                case 4: "LE Coded, S=2"
                default: "0x\(String(wire, radix: 16))"
                }
            }
        }

        package init() {}
        package init(
            status: Status,
            handle: ConnectionHandle,
            reason: UInt8,
            phy: PowerPHY,
            power: TransmitPower,
            flags: UInt8,
            change: TransmitPower
        ) {
            self.status = status
            self.handle = handle
            self.reason = reason
            self.phy = phy
            self.power = power
            self.flags = flags
            self.change = change
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&status, "Status")
            try wire.handle(&handle, after: status)
            try wire.integer(&reason, "Reason")
            try wire.field(&phy, "PHY")
            try wire.field(&power, "TX Power Level")
            try wire.integer(&flags, "TX Power Level Flag")
            try wire.field(&change, "Delta")
        }
    }
}
