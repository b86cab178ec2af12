extension HCI {
    /// Connects to a peer, or to any of the accept list.
    ///
    /// ``HCI/LEConnectionComplete`` or ``HCI/LEEnhancedConnectionComplete`` tells the outcome.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.12.
    package struct LECreateConnection: HCICommand {
        package static var opcode: Opcode { .leCreateConnection }
        package typealias Return = NoReturn

        package var interval = ScanInterval.standard
        package var window = ScanInterval.standard
        package var policy = InitiatorFilterPolicy.peer
        /// Whom to connect to; ignored with the accept list.
        package var peer = DeviceAddress.none
        package var ownAddress = OwnAddress.public
        package var parameters = ConnectionParameters()

        package init() {}
        package init(
            interval: ScanInterval,
            window: ScanInterval,
            policy: InitiatorFilterPolicy = .peer,
            peer: DeviceAddress,
            ownAddress: OwnAddress = .public,
            parameters: ConnectionParameters
        ) {
            self.interval = interval
            self.window = window
            self.policy = policy
            self.peer = peer
            self.ownAddress = ownAddress
            self.parameters = parameters
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&interval, "LE Scan Interval")
            try wire.field(&window, "LE Scan Window")
            try wire.field(&policy, "Initiator Filter Policy")
            try wire.typedAddress(&peer, kind: "Peer Address Type", "Peer Address")
            try wire.field(&ownAddress, "Own Address Type")
            try wire.nested(&parameters)
        }
    }

    /// Gives up connecting.
    ///
    /// The event about the connection follows all the same, with ``HCI/Status/unknownConnectionIdentifier`` unless the
    /// connection was there first.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.13.
    package struct LECreateConnectionCancel: HCICommand {
        package static var opcode: Opcode { .leCreateConnectionCancel }
        package typealias Return = StatusReturn

        package init() {}

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {}
    }

    /// Asks for other parameters of a connection.
    ///
    /// ``HCI/LEConnectionUpdateComplete`` tells the outcome.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.18.
    package struct LEConnectionUpdate: HCICommand {
        package static var opcode: Opcode { .leConnectionUpdate }
        package typealias Return = NoReturn

        package var handle = ConnectionHandle.lowest
        package var parameters = ConnectionParameters()

        package init() {}
        package init(handle: ConnectionHandle, parameters: ConnectionParameters) {
            self.handle = handle
            self.parameters = parameters
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&handle, "Connection Handle")
            try wire.nested(&parameters)
        }
    }

    /// Grants the parameters that a peer asked for.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.31.
    package struct LERemoteConnectionParameterRequestReply: HCICommand {
        package static var opcode: Opcode { .leRemoteConnectionParameterRequestReply }
        package typealias Return = HandleReturn

        package var handle = ConnectionHandle.lowest
        package var parameters = ConnectionParameters()

        package init() {}
        package init(handle: ConnectionHandle, parameters: ConnectionParameters) {
            self.handle = handle
            self.parameters = parameters
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&handle, "Connection Handle")
            try wire.nested(&parameters)
        }
    }

    /// Refuses the parameters that a peer asked for.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.32.
    package struct LERemoteConnectionParameterRequestNegativeReply: HCICommand {
        package static var opcode: Opcode { .leRemoteConnectionParameterRequestNegativeReply }
        package typealias Return = HandleReturn

        package var handle = ConnectionHandle.lowest
        package var reason = Status.unacceptableConnectionParameters

        package init() {}
        package init(handle: ConnectionHandle, reason: Status) {
            self.handle = handle
            self.reason = reason
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&handle, "Connection Handle")
            try wire.field(&reason, "Reason")
        }
    }

    /// Tells the controller which data channels are known to be bad.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.19.
    package struct LESetHostChannelClassification: HCICommand {
        package static var opcode: Opcode { .leSetHostChannelClassification }
        package typealias Return = StatusReturn

        /// One bit a data channel, 37 in all; a bit that is clear means bad.
        package var channels: UInt64 = 0

        package init() {}
        package init(channels: UInt64) {
            self.channels = channels
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.narrow(&channels, octets: 5, "Channel Map")
        }
    }

    /// Asks which data channels a connection uses.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.20.
    package struct LEReadChannelMap: HCICommand {
        package static var opcode: Opcode { .leReadChannelMap }

        package var handle = ConnectionHandle.lowest

        package init() {}
        package init(handle: ConnectionHandle) {
            self.handle = handle
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&handle, "Connection Handle")
        }
    }

    /// Asks what the controller of a peer can do.
    ///
    /// ``HCI/LEReadRemoteFeaturesComplete`` brings the answer.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.21.
    package struct LEReadRemoteFeatures: HCICommand {
        package static var opcode: Opcode { .leReadRemoteFeatures }
        package typealias Return = NoReturn

        package var handle = ConnectionHandle.lowest

        package init() {}
        package init(handle: ConnectionHandle) {
            self.handle = handle
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&handle, "Connection Handle")
        }
    }
}

extension HCI.LEReadChannelMap {
    /// What the controller answers.
    package struct Return: Packet {
        package var status = HCI.Status.success
        package var handle = ConnectionHandle.lowest
        /// One bit a data channel, 37 in all.
        package var channels: UInt64 = 0

        package init() {}
        package init(status: HCI.Status, handle: ConnectionHandle, channels: UInt64) {
            self.status = status
            self.handle = handle
            self.channels = channels
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&status, "Status")
            try wire.handle(&handle, after: status)
            try wire.narrow(&channels, octets: 5, "Channel Map")
        }
    }
}
