extension HCI {
    /// Reports that a connection has ended.
    ///
    /// Core 6.0, Vol 4, Part E, 7.7.5.
    package struct DisconnectionComplete: HCIEvent {
        package static var code: EventCode { .disconnectionComplete }

        package var status = Status.success
        package var handle = ConnectionHandle.lowest
        /// The reason, which also shows whether the host or the peer ended the connection.
        package var reason = Status.success

        package init() {}
        package init(status: Status, handle: ConnectionHandle, reason: Status) {
            self.status = status
            self.handle = handle
            self.reason = reason
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&status, "Status")
            try wire.handle(&handle, after: status)
            try wire.field(&reason, "Reason")
        }
    }

    /// Reports that encryption of a connection has been switched on or off, or that switching it has failed.
    ///
    /// Core 6.0, Vol 4, Part E, 7.7.8.
    package struct EncryptionChange: HCIEvent {
        package static var code: EventCode { .encryptionChange }

        package var status = Status.success
        package var handle = ConnectionHandle.lowest
        package var encryption = Encryption.off

        /// The state of encryption on a connection.
        package struct Encryption: WireField, Hashable, CustomStringConvertible {
            package let wire: UInt8
            package init(wire: UInt8) { self.wire = wire }

            package static let off = Self(wire: 0)
            /// AES-CCM, on an LE link.
            package static let on = Self(wire: 1)

            package var description: String {
                switch self {
                case .off: "off"
                case .on: "on"
                default: "0x\(String(wire, radix: 16))"
                }
            }
        }

        package init() {}
        package init(status: Status, handle: ConnectionHandle, encryption: Encryption) {
            self.status = status
            self.handle = handle
            self.encryption = encryption
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&status, "Status")
            try wire.handle(&handle, after: status)
            try wire.field(&encryption, "Encryption Enabled")
        }
    }

    /// Reports that encryption of a connection has been switched on or off, with the size of the key, or that switching
    /// it has failed.
    ///
    /// If the host has enabled this event, the controller sends it instead of ``HCI/EncryptionChange``.
    ///
    /// Core 6.0, Vol 4, Part E, 7.7.8.
    package struct EncryptionChangeV2: HCIEvent {
        package static var code: EventCode { .encryptionChangeV2 }

        package var status = Status.success
        package var handle = ConnectionHandle.lowest
        package var encryption = EncryptionChange.Encryption.off
        /// The size of the key, in octets; meaningless if the connection is not encrypted.
        package var keySize: UInt8 = 0

        package init() {}
        package init(
            status: Status,
            handle: ConnectionHandle,
            encryption: EncryptionChange.Encryption,
            keySize: UInt8
        ) {
            self.status = status
            self.handle = handle
            self.encryption = encryption
            self.keySize = keySize
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&status, "Status")
            try wire.handle(&handle, after: status)
            try wire.field(&encryption, "Encryption Enabled")
            try wire.integer(&keySize, "Encryption Key Size")
        }
    }

    /// The version and the manufacturer of a peer's controller, or the reason why they could not be read.
    ///
    /// Core 6.0, Vol 4, Part E, 7.7.12.
    package struct ReadRemoteVersionInformationComplete: HCIEvent {
        package static var code: EventCode { .readRemoteVersionInformationComplete }

        package var status = Status.success
        package var handle = ConnectionHandle.lowest
        package var version = CoreVersion(wire: 0)
        /// The company identifier of the manufacturer of the peer's controller.
        package var company: UInt16 = 0
        package var subversion: UInt16 = 0

        package init() {}
        package init(
            status: Status,
            handle: ConnectionHandle,
            version: CoreVersion,
            company: UInt16,
            subversion: UInt16
        ) {
            self.status = status
            self.handle = handle
            self.version = version
            self.company = company
            self.subversion = subversion
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&status, "Status")
            try wire.handle(&handle, after: status)
            try wire.field(&version, "Version")
            try wire.integer(&company, "Company Identifier")
            try wire.integer(&subversion, "Subversion")
        }
    }

    /// Reports that the key of an encrypted connection has been refreshed, or that the refresh has failed.
    ///
    /// Core 6.0, Vol 4, Part E, 7.7.39.
    package struct EncryptionKeyRefreshComplete: HCIEvent {
        package static var code: EventCode { .encryptionKeyRefreshComplete }

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

    /// Reports that no authenticated packet has arrived on an encrypted link within the authenticated payload timeout.
    ///
    /// Core 6.0, Vol 4, Part E, 7.7.75.
    package struct AuthenticatedPayloadTimeoutExpired: HCIEvent {
        package static var code: EventCode { .authenticatedPayloadTimeoutExpired }

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
