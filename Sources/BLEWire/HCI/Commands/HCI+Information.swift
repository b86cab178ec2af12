extension HCI {
    /// Ends a connection.
    ///
    /// ``HCI/DisconnectionComplete`` follows when the connection has ended.
    ///
    /// Core 6.0, Vol 4, Part E, 7.1.6.
    package struct Disconnect: HCICommand {
        package static var opcode: Opcode { .disconnect }
        package typealias Return = NoReturn

        package var handle = ConnectionHandle.lowest
        /// The reason that the peer receives.
        package var reason = Status.remoteUserTerminatedConnection

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

    /// Requests the version and the manufacturer of a peer's controller.
    ///
    /// ``HCI/ReadRemoteVersionInformationComplete`` reports the result.
    ///
    /// Core 6.0, Vol 4, Part E, 7.1.23.
    package struct ReadRemoteVersionInformation: HCICommand {
        package static var opcode: Opcode { .readRemoteVersionInformation }
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

    /// Reads the version and manufacturer of the controller.
    ///
    /// Core 6.0, Vol 4, Part E, 7.4.1.
    package struct ReadLocalVersionInformation: HCICommand {
        package static var opcode: Opcode { .readLocalVersionInformation }

        package init() {}

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {}
    }

    /// Reads the commands that the controller supports.
    ///
    /// Core 6.0, Vol 4, Part E, 7.4.2.
    package struct ReadLocalSupportedCommands: HCICommand {
        package static var opcode: Opcode { .readLocalSupportedCommands }

        package init() {}

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {}
    }

    /// Reads the first page of the features that the controller's link manager supports.
    ///
    /// Core 6.0, Vol 4, Part E, 7.4.3.
    package struct ReadLocalSupportedFeatures: HCICommand {
        package static var opcode: Opcode { .readLocalSupportedFeatures }

        package init() {}

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {}
    }

    /// Reads the size and number of the BR/EDR data buffers, which LE shares if it has none of its own.
    ///
    /// Core 6.0, Vol 4, Part E, 7.4.5.
    package struct ReadBufferSize: HCICommand {
        package static var opcode: Opcode { .readBufferSize }

        package init() {}

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {}
    }

    /// Reads the public address of the controller.
    ///
    /// Core 6.0, Vol 4, Part E, 7.4.6.
    package struct ReadBDADDR: HCICommand {
        package static var opcode: Opcode { .readBDADDR }

        package init() {}

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {}
    }

    /// Reads the strength of the signal that the controller receives from a peer.
    ///
    /// Core 6.0, Vol 4, Part E, 7.5.4.
    package struct ReadRSSI: HCICommand {
        package static var opcode: Opcode { .readRSSI }

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

extension HCI.ReadLocalVersionInformation {
    /// The return parameters: the versions and the manufacturer of the controller.
    package struct Return: Packet {
        package var status = HCI.Status.success
        package var hciVersion = HCI.CoreVersion(wire: 0)
        package var hciSubversion: UInt16 = 0
        package var linkVersion = HCI.CoreVersion(wire: 0)
        /// The company identifier of the controller's manufacturer.
        package var company: UInt16 = 0
        package var linkSubversion: UInt16 = 0

        package init() {}
        package init(
            status: HCI.Status,
            hciVersion: HCI.CoreVersion,
            hciSubversion: UInt16,
            linkVersion: HCI.CoreVersion,
            company: UInt16,
            linkSubversion: UInt16
        ) {
            self.status = status
            self.hciVersion = hciVersion
            self.hciSubversion = hciSubversion
            self.linkVersion = linkVersion
            self.company = company
            self.linkSubversion = linkSubversion
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&status, "Status")
            try wire.field(&hciVersion, "HCI Version")
            try wire.integer(&hciSubversion, "HCI Subversion")
            try wire.field(&linkVersion, "LMP Version")
            try wire.integer(&company, "Company Identifier")
            try wire.integer(&linkSubversion, "LMP Subversion")
        }
    }
}

extension HCI.ReadLocalSupportedCommands {
    /// The return parameters: the commands that the controller supports.
    package struct Return: Packet {
        package var status = HCI.Status.success
        package var commands = SupportedCommands()

        package init() {}
        package init(status: HCI.Status, commands: SupportedCommands) {
            self.status = status
            self.commands = commands
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&status, "Status")
            try wire.supportedCommands(&commands, "Supported Commands")
        }
    }
}

extension HCI.ReadLocalSupportedFeatures {
    /// The return parameters: the features that the controller's link manager supports.
    package struct Return: Packet {
        package var status = HCI.Status.success
        /// The features, one bit each: bit 37 is BR/EDR Not Supported, bit 38 is LE Supported (Controller).
        package var features: UInt64 = 0

        package init() {}
        package init(status: HCI.Status, features: UInt64) {
            self.status = status
            self.features = features
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&status, "Status")
            try wire.integer(&features, "LMP Features")
        }
    }
}

extension HCI.ReadBufferSize {
    /// The return parameters: the sizes, in octets, and the numbers of the BR/EDR data buffers.
    package struct Return: Packet {
        package var status = HCI.Status.success
        package var aclLength: UInt16 = 0
        package var synchronousLength: UInt8 = 0
        package var aclCount: UInt16 = 0
        package var synchronousCount: UInt16 = 0

        package init() {}
        package init(
            status: HCI.Status,
            aclLength: UInt16,
            synchronousLength: UInt8,
            aclCount: UInt16,
            synchronousCount: UInt16
        ) {
            self.status = status
            self.aclLength = aclLength
            self.synchronousLength = synchronousLength
            self.aclCount = aclCount
            self.synchronousCount = synchronousCount
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&status, "Status")
            try wire.integer(&aclLength, "ACL Data Packet Length")
            try wire.integer(&synchronousLength, "Synchronous Data Packet Length")
            try wire.integer(&aclCount, "Total Num ACL Data Packets")
            try wire.integer(&synchronousCount, "Total Num Synchronous Data Packets")
        }
    }
}

extension HCI.ReadBDADDR {
    /// The return parameters: the public address of the controller.
    package struct Return: Packet {
        package var status = HCI.Status.success
        package var address = DeviceAddress.none

        package init() {}
        package init(status: HCI.Status, address: DeviceAddress) {
            self.status = status
            self.address = DeviceAddress(address.value, .public)
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&status, "Status")
            try wire.address(&address, "BD_ADDR")
        }
    }
}

extension HCI.ReadRSSI {
    /// The return parameters: the strength of the peer's signal at the controller.
    package struct Return: Packet {
        package var status = HCI.Status.success
        package var handle = ConnectionHandle.lowest
        package var rssi = RSSI.unavailable

        package init() {}
        package init(status: HCI.Status, handle: ConnectionHandle, rssi: RSSI) {
            self.status = status
            self.handle = handle
            self.rssi = rssi
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&status, "Status")
            try wire.handle(&handle, after: status)
            try wire.field(&rssi, "RSSI")
        }
    }
}
