extension HCI {
    /// Sets the random address of one advertising set.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.52.
    package struct LESetAdvertisingSetRandomAddress: HCICommand {
        package static var opcode: Opcode { .leSetAdvertisingSetRandomAddress }
        package typealias Return = StatusReturn

        package var set = AdvertisingHandle.first
        package var address = DeviceAddress(0, .random)

        package init() {}
        package init(set: AdvertisingHandle, address: DeviceAddress) {
            self.set = set
            self.address = DeviceAddress(address.value, .random)
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&set, "Advertising Handle")
            try wire.address(&address, "Random Address")
        }
    }

    /// Creates an advertising set, or changes its parameters.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.53.
    package struct LESetExtendedAdvertisingParameters: HCICommand {
        package static var opcode: Opcode { .leSetExtendedAdvertisingParameters }

        package var set = AdvertisingHandle.first
        package var properties: AdvertisingProperties = []
        package var minimum = ExtendedAdvertisingInterval(AdvertisingInterval.standard)
        package var maximum = ExtendedAdvertisingInterval(AdvertisingInterval.standard)
        package var channels = AdvertisingChannels.all
        package var ownAddress = OwnAddress.public
        /// The target of directed advertising; ignored if the properties do not include directed advertising.
        package var peer = DeviceAddress.none
        package var policy = AdvertisingFilterPolicy.everyone
        package var power = TransmitPower.unavailable
        package var primaryPHY = PHY.le1M
        /// The maximum number of advertising events that the controller may skip before it sends the auxiliary packet.
        package var secondaryMaximumSkip: UInt8 = 0
        package var secondaryPHY = PHY.le1M
        package var sid = AdvertisingSID(wire: 0)
        package var reportsScanRequests = false

        package init() {}
        package init(
            set: AdvertisingHandle,
            properties: AdvertisingProperties,
            minimum: ExtendedAdvertisingInterval,
            maximum: ExtendedAdvertisingInterval,
            channels: AdvertisingChannels = .all,
            ownAddress: OwnAddress = .public,
            peer: DeviceAddress = .none,
            policy: AdvertisingFilterPolicy = .everyone,
            power: TransmitPower = .unavailable,
            primaryPHY: PHY = .le1M,
            secondaryMaximumSkip: UInt8 = 0,
            secondaryPHY: PHY = .le1M,
            sid: AdvertisingSID = AdvertisingSID(wire: 0),
            reportsScanRequests: Bool = false
        ) {
            self.set = set
            self.properties = properties
            self.minimum = minimum
            self.maximum = maximum
            self.channels = channels
            self.ownAddress = ownAddress
            self.peer = peer
            self.policy = policy
            self.power = power
            self.primaryPHY = primaryPHY
            self.secondaryMaximumSkip = secondaryMaximumSkip
            self.secondaryPHY = secondaryPHY
            self.sid = sid
            self.reportsScanRequests = reportsScanRequests
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&set, "Advertising Handle")
            try wire.field(&properties, "Advertising Event Properties")
            let isIgnored = properties.contains(.highDutyCycle)
            try wire.interval(&minimum, isIgnored: isIgnored, "Primary Advertising Interval Min")
            try wire.interval(&maximum, isIgnored: isIgnored, "Primary Advertising Interval Max")
            try wire.field(&channels, "Primary Advertising Channel Map")
            try wire.field(&ownAddress, "Own Address Type")
            try wire.typedAddress(&peer, kind: "Peer Address Type", "Peer Address")
            try wire.field(&policy, "Advertising Filter Policy")
            try wire.field(&power, "Advertising TX Power")
            try wire.field(&primaryPHY, "Primary Advertising PHY")
            try wire.integer(&secondaryMaximumSkip, "Secondary Advertising Max Skip")
            try wire.field(&secondaryPHY, "Secondary Advertising PHY")
            try wire.field(&sid, "Advertising SID")
            try wire.flag(&reportsScanRequests, "Scan Request Notification Enable")
        }
    }

    /// Sets the data of an advertising set, or a fragment of the data.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.54.
    package struct LESetExtendedAdvertisingData: HCICommand {
        package static var opcode: Opcode { .leSetExtendedAdvertisingData }
        package typealias Return = StatusReturn

        package var set = AdvertisingHandle.first
        package var operation = DataOperation.complete
        package var preference = FragmentPreference.mayFragment
        /// The advertising data, or a fragment of it, at most 251 octets.
        package var data: [UInt8] = []

        package init() {}
        package init(
            set: AdvertisingHandle,
            operation: DataOperation = .complete,
            preference: FragmentPreference = .mayFragment,
            data: [UInt8]
        ) {
            self.set = set
            self.operation = operation
            self.preference = preference
            self.data = data
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&set, "Advertising Handle")
            try wire.field(&operation, "Operation")
            try wire.field(&preference, "Fragment Preference")
            try wire.advertisingData(&data, length: "Advertising Data Length", "Advertising Data")
        }
    }

    /// Sets the scan response data of an advertising set, or a fragment of the data.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.55.
    package struct LESetExtendedScanResponseData: HCICommand {
        package static var opcode: Opcode { .leSetExtendedScanResponseData }
        package typealias Return = StatusReturn

        package var set = AdvertisingHandle.first
        package var operation = DataOperation.complete
        package var preference = FragmentPreference.mayFragment
        /// The scan response data, or a fragment of it, at most 251 octets.
        package var data: [UInt8] = []

        package init() {}
        package init(
            set: AdvertisingHandle,
            operation: DataOperation = .complete,
            preference: FragmentPreference = .mayFragment,
            data: [UInt8]
        ) {
            self.set = set
            self.operation = operation
            self.preference = preference
            self.data = data
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&set, "Advertising Handle")
            try wire.field(&operation, "Operation")
            try wire.field(&preference, "Fragment Preference")
            try wire.advertisingData(&data, length: "Scan Response Data Length", "Scan Response Data")
        }
    }

    /// Enables or disables advertising sets.
    ///
    /// A command to disable an empty list of sets disables all sets.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.56.
    package struct LESetExtendedAdvertisingEnable: HCICommand {
        package static var opcode: Opcode { .leSetExtendedAdvertisingEnable }
        package typealias Return = StatusReturn

        package var enable = false
        package var sets: [Entry] = []

        /// An advertising set to enable or disable, with its limits.
        package struct Entry: Packet, Hashable {
            package var set = AdvertisingHandle.first
            package var duration = EnableDuration.unlimited
            /// The number of extended advertising events after which the controller stops the set; 0 for no limit.
            package var maximumEvents: UInt8 = 0

            package init() {}
            package init(set: AdvertisingHandle, duration: EnableDuration = .unlimited, maximumEvents: UInt8 = 0) {
                self.set = set
                self.duration = duration
                self.maximumEvents = maximumEvents
            }

            package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
                try wire.field(&set, "Advertising Handle")
                try wire.field(&duration, "Duration")
                try wire.integer(&maximumEvents, "Max Extended Advertising Events")
            }
        }

        package init() {}
        package init(enable: Bool, sets: [Entry]) {
            self.enable = enable
            self.sets = sets
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.flag(&enable, "Enable")
            try wire.list(&sets, upTo: 63, "Num Sets")
        }
    }

    /// Reads the maximum length of the advertising data or scan response data of an advertising set.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.57.
    package struct LEReadMaximumAdvertisingDataLength: HCICommand {
        package static var opcode: Opcode { .leReadMaximumAdvertisingDataLength }

        package init() {}

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {}
    }

    /// Reads the number of advertising sets that the controller currently supports.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.58.
    package struct LEReadNumberOfSupportedAdvertisingSets: HCICommand {
        package static var opcode: Opcode { .leReadNumberOfSupportedAdvertisingSets }

        package init() {}

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {}
    }

    /// Removes an advertising set.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.59.
    package struct LERemoveAdvertisingSet: HCICommand {
        package static var opcode: Opcode { .leRemoveAdvertisingSet }
        package typealias Return = StatusReturn

        package var set = AdvertisingHandle.first

        package init() {}
        package init(set: AdvertisingHandle) {
            self.set = set
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&set, "Advertising Handle")
        }
    }

    /// Removes all advertising sets.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.60.
    package struct LEClearAdvertisingSets: HCICommand {
        package static var opcode: Opcode { .leClearAdvertisingSets }
        package typealias Return = StatusReturn

        package init() {}

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {}
    }
}

extension HCI.LESetExtendedAdvertisingParameters {
    /// The return parameters: the transmit power that the controller has selected for the set.
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
            try wire.field(&power, "Selected TX Power")
        }
    }
}

extension HCI.LEReadMaximumAdvertisingDataLength {
    /// The return parameters: the maximum length of the data of an advertising set.
    package struct Return: Packet {
        package var status = HCI.Status.success
        /// The maximum length, 31 to 1650 octets.
        package var length: UInt16 = 0

        package init() {}
        package init(status: HCI.Status, length: UInt16) {
            self.status = status
            self.length = length
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&status, "Status")
            try wire.integer(&length, "Max Advertising Data Length")
        }
    }
}

extension HCI.LEReadNumberOfSupportedAdvertisingSets {
    /// The return parameters: the number of advertising sets that the controller currently supports.
    package struct Return: Packet {
        package var status = HCI.Status.success
        package var count: UInt8 = 0

        package init() {}
        package init(status: HCI.Status, count: UInt8) {
            self.status = status
            self.count = count
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&status, "Status")
            try wire.integer(&count, "Num Supported Advertising Sets")
        }
    }
}
