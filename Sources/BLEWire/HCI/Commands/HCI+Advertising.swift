extension HCI {
    /// Sets the random address for scanning, initiating and legacy advertising.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.4.
    package struct LESetRandomAddress: HCICommand {
        package static var opcode: Opcode { .leSetRandomAddress }
        package typealias Return = StatusReturn

        package var address = DeviceAddress(0, .random)

        package init() {}
        package init(address: DeviceAddress) {
            self.address = DeviceAddress(address.value, .random)
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.address(&address, "Random Address")
        }
    }

    /// Sets the parameters of legacy advertising.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.5.
    package struct LESetAdvertisingParameters: HCICommand {
        package static var opcode: Opcode { .leSetAdvertisingParameters }
        package typealias Return = StatusReturn

        /// The minimum advertising interval; it may be out of range only for high duty cycle advertising, which ignores
        /// the interval.
        package var minimum = Reported(AdvertisingInterval.standard)
        package var maximum = Reported(AdvertisingInterval.standard)
        package var type = AdvertisingType.connectable
        package var ownAddress = OwnAddress.public
        /// The target of directed advertising; ignored for other types.
        package var peer = DeviceAddress.none
        package var channels = AdvertisingChannels.all
        package var policy = AdvertisingFilterPolicy.everyone

        package init() {}
        package init(
            minimum: AdvertisingInterval,
            maximum: AdvertisingInterval,
            type: AdvertisingType = .connectable,
            ownAddress: OwnAddress = .public,
            peer: DeviceAddress = .none,
            channels: AdvertisingChannels = .all,
            policy: AdvertisingFilterPolicy = .everyone
        ) {
            self.minimum = Reported(minimum)
            self.maximum = Reported(maximum)
            self.type = type
            self.ownAddress = ownAddress
            self.peer = peer
            self.channels = channels
            self.policy = policy
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&minimum, "Advertising Interval Min")
            try wire.field(&maximum, "Advertising Interval Max")
            try wire.field(&type, "Advertising Type")
            try wire.field(&ownAddress, "Own Address Type")
            try wire.typedAddress(&peer, kind: "Peer Address Type", "Peer Address")
            try wire.field(&channels, "Advertising Channel Map")
            try wire.field(&policy, "Advertising Filter Policy")
        }
    }

    /// Reads the transmit power of legacy advertising.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.6.
    package struct LEReadAdvertisingTransmitPower: HCICommand {
        package static var opcode: Opcode { .leReadAdvertisingTransmitPower }

        package init() {}

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {}
    }

    /// Sets the data of legacy advertising.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.7.
    package struct LESetAdvertisingData: HCICommand {
        package static var opcode: Opcode { .leSetAdvertisingData }
        package typealias Return = StatusReturn

        /// The advertising data, at most 31 octets.
        package var data: [UInt8] = []

        package init() {}
        package init(data: [UInt8]) {
            self.data = data
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.paddedAdvertisingData(&data, capacity: 31, length: "Advertising Data Length", "Advertising Data")
        }
    }

    /// Sets the scan response data of legacy advertising.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.8.
    package struct LESetScanResponseData: HCICommand {
        package static var opcode: Opcode { .leSetScanResponseData }
        package typealias Return = StatusReturn

        /// The scan response data, at most 31 octets.
        package var data: [UInt8] = []

        package init() {}
        package init(data: [UInt8]) {
            self.data = data
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.paddedAdvertisingData(
                &data,
                capacity: 31,
                length: "Scan Response Data Length",
                "Scan Response Data"
            )
        }
    }

    /// Starts or stops legacy advertising.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.9.
    package struct LESetAdvertisingEnable: HCICommand {
        package static var opcode: Opcode { .leSetAdvertisingEnable }
        package typealias Return = StatusReturn

        package var enable = false

        package init() {}
        package init(enable: Bool) {
            self.enable = enable
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.flag(&enable, "Advertising Enable")
        }
    }
}

extension HCI.LEReadAdvertisingTransmitPower {
    /// The return parameters: the transmit power of legacy advertising.
    package struct Return: Packet {
        package var status = HCI.Status.success
        package var power = TransmitPower.unavailable

        package init() {}
        package init(status: HCI.Status, power: TransmitPower) {
            self.status = status
            self.power = power
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&status, "Status")
            try wire.field(&power, "TX Power Level")
        }
    }
}
