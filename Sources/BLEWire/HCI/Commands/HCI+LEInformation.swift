extension HCI {
    /// Sets the LE events that the controller may send.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.1.
    package struct LESetEventMask: HCICommand {
        package static var opcode: Opcode { .leSetEventMask }
        package typealias Return = StatusReturn

        package var mask = LEEventMask.standard

        package init() {}
        package init(mask: LEEventMask) {
            self.mask = mask
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&mask, "LE Event Mask")
        }
    }

    /// Reads the size and number of the controller's buffers for LE data.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.2.
    package struct LEReadBufferSize: HCICommand {
        package static var opcode: Opcode { .leReadBufferSize }

        package init() {}

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {}
    }

    /// Reads the size and number of the controller's buffers for LE data and for isochronous data.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.2.
    package struct LEReadBufferSizeV2: HCICommand {
        package static var opcode: Opcode { .leReadBufferSizeV2 }

        package init() {}

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {}
    }

    /// Reads the LE features of the controller.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.3.
    package struct LEReadLocalSupportedFeatures: HCICommand {
        package static var opcode: Opcode { .leReadLocalSupportedFeatures }

        package init() {}

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {}
    }

    /// Reads the combinations of states and roles that the controller supports.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.27.
    package struct LEReadSupportedStates: HCICommand {
        package static var opcode: Opcode { .leReadSupportedStates }

        package init() {}

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {}
    }

    /// Makes the controller encrypt one block with AES-128.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.22.
    package struct LEEncrypt: HCICommand {
        package static var opcode: Opcode { .leEncrypt }

        package var key = Key128.zero
        package var plaintext = Key128.zero

        package init() {}
        package init(key: Key128, plaintext: Key128) {
            self.key = key
            self.plaintext = plaintext
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&key, "Key")
            try wire.field(&plaintext, "Plaintext Data")
        }
    }

    /// Reads 64 random bits from the controller.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.23.
    package struct LERand: HCICommand {
        package static var opcode: Opcode { .leRand }

        package init() {}

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {}
    }

    /// Reads the minimum and maximum transmit power of the controller.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.74.
    package struct LEReadTransmitPower: HCICommand {
        package static var opcode: Opcode { .leReadTransmitPower }

        package init() {}

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {}
    }

    /// Reads the gain or loss between radio and antenna that the controller takes into account.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.75.
    package struct LEReadRFPathCompensation: HCICommand {
        package static var opcode: Opcode { .leReadRFPathCompensation }

        package init() {}

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {}
    }

    /// Sets the gain or loss between radio and antenna that the controller takes into account.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.76.
    package struct LEWriteRFPathCompensation: HCICommand {
        package static var opcode: Opcode { .leWriteRFPathCompensation }
        package typealias Return = StatusReturn

        /// The gain or loss for sending, in tenths of a decibel, −1280 to 1280.
        package var transmit: Int16 = 0
        /// The gain or loss for receiving, in tenths of a decibel, −1280 to 1280.
        package var receive: Int16 = 0

        package init() {}
        package init(transmit: Int16, receive: Int16) {
            self.transmit = transmit
            self.receive = receive
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.signed(&transmit, "RF TX Path Compensation Value")
            try wire.signed(&receive, "RF RX Path Compensation Value")
        }
    }

    /// Sets or clears one of the feature bits that the host controls.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.115.
    package struct LESetHostFeature: HCICommand {
        package static var opcode: Opcode { .leSetHostFeature }
        package typealias Return = StatusReturn

        /// The number of the bit in ``LEFeatures``.
        package var bit: UInt8 = 0
        package var value = false

        package init() {}
        package init(bit: UInt8, value: Bool) {
            self.bit = bit
            self.value = value
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.integer(&bit, "Bit Number")
            try wire.flag(&value, "Bit Value")
        }
    }

    /// Enables or disables ``HCI/LETransmitPowerReporting`` events about changes of the transmit power on a connection.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.121.
    package struct LESetTransmitPowerReportingEnable: HCICommand {
        package static var opcode: Opcode { .leSetTransmitPowerReportingEnable }
        package typealias Return = HandleReturn

        package var handle = ConnectionHandle.lowest
        package var local = false
        package var remote = false

        package init() {}
        package init(handle: ConnectionHandle, local: Bool, remote: Bool) {
            self.handle = handle
            self.local = local
            self.remote = remote
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&handle, "Connection Handle")
            try wire.flag(&local, "Local Enable")
            try wire.flag(&remote, "Remote Enable")
        }
    }
}

extension HCI.LEReadBufferSize {
    /// The return parameters: the size and the number of the controller's buffers for LE data.
    package struct Return: Packet {
        package var status = HCI.Status.success
        /// The maximum payload of an ACL packet, in octets; 0 if LE shares the buffers of BR/EDR.
        package var aclLength: UInt16 = 0
        /// The number of ACL packets that the controller can hold.
        package var aclCount: UInt8 = 0

        package init() {}
        package init(status: HCI.Status, aclLength: UInt16, aclCount: UInt8) {
            self.status = status
            self.aclLength = aclLength
            self.aclCount = aclCount
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&status, "Status")
            try wire.integer(&aclLength, "LE ACL Data Packet Length")
            try wire.integer(&aclCount, "Total Num LE ACL Data Packets")
        }
    }
}

extension HCI.LEReadBufferSizeV2 {
    /// The return parameters: the sizes and the numbers of the controller's buffers for LE and isochronous data.
    package struct Return: Packet {
        package var status = HCI.Status.success
        /// The maximum payload of an ACL packet, in octets; 0 if LE shares the buffers of BR/EDR.
        package var aclLength: UInt16 = 0
        /// The number of ACL packets that the controller can hold.
        package var aclCount: UInt8 = 0
        package var isoLength: UInt16 = 0
        package var isoCount: UInt8 = 0

        package init() {}
        package init(status: HCI.Status, aclLength: UInt16, aclCount: UInt8, isoLength: UInt16, isoCount: UInt8) {
            self.status = status
            self.aclLength = aclLength
            self.aclCount = aclCount
            self.isoLength = isoLength
            self.isoCount = isoCount
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&status, "Status")
            try wire.integer(&aclLength, "LE ACL Data Packet Length")
            try wire.integer(&aclCount, "Total Num LE ACL Data Packets")
            try wire.integer(&isoLength, "ISO Data Packet Length")
            try wire.integer(&isoCount, "Total Num ISO Data Packets")
        }
    }
}

extension HCI.LEReadLocalSupportedFeatures {
    /// The return parameters: the LE features of the controller.
    package struct Return: Packet {
        package var status = HCI.Status.success
        package var features: LEFeatures = []

        package init() {}
        package init(status: HCI.Status, features: LEFeatures) {
            self.status = status
            self.features = features
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&status, "Status")
            try wire.field(&features, "LE Features")
        }
    }
}

extension HCI.LEReadSupportedStates {
    /// The return parameters: the combinations of states and roles that the controller supports.
    package struct Return: Packet {
        package var status = HCI.Status.success
        /// One bit for each combination, numbered as in the table of section 7.8.27.
        package var states: UInt64 = 0

        package init() {}
        package init(status: HCI.Status, states: UInt64) {
            self.status = status
            self.states = states
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&status, "Status")
            try wire.integer(&states, "LE States")
        }
    }
}

extension HCI.LEEncrypt {
    /// The return parameters: the encrypted block.
    package struct Return: Packet {
        package var status = HCI.Status.success
        package var encrypted = Key128.zero

        package init() {}
        package init(status: HCI.Status, encrypted: Key128) {
            self.status = status
            self.encrypted = encrypted
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&status, "Status")
            try wire.field(&encrypted, "Encrypted Data")
        }
    }
}

extension HCI.LERand {
    /// The return parameters: 64 random bits.
    package struct Return: Packet {
        package var status = HCI.Status.success
        package var number: UInt64 = 0

        package init() {}
        package init(status: HCI.Status, number: UInt64) {
            self.status = status
            self.number = number
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&status, "Status")
            try wire.integer(&number, "Random Number")
        }
    }
}

extension HCI.LEReadTransmitPower {
    /// The return parameters: the minimum and the maximum transmit power of the controller.
    package struct Return: Packet {
        package var status = HCI.Status.success
        package var minimum = TransmitPower.unavailable
        package var maximum = TransmitPower.unavailable

        package init() {}
        package init(status: HCI.Status, minimum: TransmitPower, maximum: TransmitPower) {
            self.status = status
            self.minimum = minimum
            self.maximum = maximum
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&status, "Status")
            try wire.field(&minimum, "Min TX Power")
            try wire.field(&maximum, "Max TX Power")
        }
    }
}

extension HCI.LEReadRFPathCompensation {
    /// The return parameters: the gain or loss between radio and antenna.
    package struct Return: Packet {
        package var status = HCI.Status.success
        /// The gain or loss for sending, in tenths of a decibel, −1280 to 1280.
        package var transmit: Int16 = 0
        /// The gain or loss for receiving, in tenths of a decibel, −1280 to 1280.
        package var receive: Int16 = 0

        package init() {}
        package init(status: HCI.Status, transmit: Int16, receive: Int16) {
            self.status = status
            self.transmit = transmit
            self.receive = receive
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&status, "Status")
            try wire.signed(&transmit, "RF TX Path Compensation Value")
            try wire.signed(&receive, "RF RX Path Compensation Value")
        }
    }
}
