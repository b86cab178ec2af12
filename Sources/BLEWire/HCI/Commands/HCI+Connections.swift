extension HCI {
    /// Creates a connection to a peer, or to any device on the filter accept list.
    ///
    /// ``HCI/LEConnectionComplete`` or ``HCI/LEEnhancedConnectionComplete`` reports the result.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.12.
    package struct LECreateConnection: HCICommand {
        package static var opcode: Opcode { .leCreateConnection }
        package typealias Return = NoReturn

        package var interval = ScanInterval.standard
        package var window = ScanInterval.standard
        package var policy = InitiatorFilterPolicy.peer
        /// The peer to connect to; ignored when the filter accept list is used.
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

    /// Cancels the creation of a connection.
    ///
    /// An event about the connection still follows. Its status is ``HCI/Status/unknownConnectionIdentifier`` unless the
    /// connection has already been created.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.13.
    package struct LECreateConnectionCancel: HCICommand {
        package static var opcode: Opcode { .leCreateConnectionCancel }
        package typealias Return = StatusReturn

        package init() {}

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {}
    }

    /// Changes the parameters of a connection.
    ///
    /// ``HCI/LEConnectionUpdateComplete`` reports the result.
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

    /// Accepts the connection parameters that a peer requested.
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

    /// Rejects the connection parameters that a peer requested.
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

    /// Tells the controller which data channels suffer from interference.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.19.
    package struct LESetHostChannelClassification: HCICommand {
        package static var opcode: Opcode { .leSetHostChannelClassification }
        package typealias Return = StatusReturn

        /// One bit for each of the 37 data channels; 0 if the channel is bad, 1 if its state is unknown.
        package var channels: UInt64 = 0

        package init() {}
        package init(channels: UInt64) {
            self.channels = channels
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.narrow(&channels, octets: 5, "Channel Map")
        }
    }

    /// Reads the channel map of a connection.
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

    /// Requests the LE features of a peer's controller.
    ///
    /// ``HCI/LEReadRemoteFeaturesComplete`` reports the result.
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
    /// The return parameters: the channel map of the connection.
    package struct Return: Packet {
        package var status = HCI.Status.success
        package var handle = ConnectionHandle.lowest
        /// One bit for each of the 37 data channels; 1 if the connection uses the channel.
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
