extension HCI {
    /// Starts the encryption of a connection, or refreshes its key.
    ///
    /// ``HCI/EncryptionChange`` or ``HCI/EncryptionKeyRefreshComplete`` reports the result.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.24.
    package struct LEEnableEncryption: HCICommand {
        package static var opcode: Opcode { .leEnableEncryption }
        package typealias Return = NoReturn

        package var handle = ConnectionHandle.lowest
        /// The Rand value, which identifies a key from legacy pairing; 0 for a key from LE Secure Connections.
        package var random: UInt64 = 0
        /// The EDIV value, which identifies a key from legacy pairing; 0 for a key from LE Secure Connections.
        package var diversifier: UInt16 = 0
        package var key = Key128.zero

        package init() {}
        package init(handle: ConnectionHandle, random: UInt64, diversifier: UInt16, key: Key128) {
            self.handle = handle
            self.random = random
            self.diversifier = diversifier
            self.key = key
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&handle, "Connection Handle")
            try wire.integer(&random, "Random Number")
            try wire.integer(&diversifier, "Encrypted Diversifier")
            try wire.field(&key, "Long Term Key")
        }
    }

    /// Supplies the long-term key in response to ``HCI/LELongTermKeyRequest``.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.25.
    package struct LELongTermKeyRequestReply: HCICommand {
        package static var opcode: Opcode { .leLongTermKeyRequestReply }
        package typealias Return = HandleReturn

        package var handle = ConnectionHandle.lowest
        package var key = Key128.zero

        package init() {}
        package init(handle: ConnectionHandle, key: Key128) {
            self.handle = handle
            self.key = key
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&handle, "Connection Handle")
            try wire.field(&key, "Long Term Key")
        }
    }

    /// Reports, in response to ``HCI/LELongTermKeyRequest``, that the host has no key.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.26.
    package struct LELongTermKeyRequestNegativeReply: HCICommand {
        package static var opcode: Opcode { .leLongTermKeyRequestNegativeReply }
        package typealias Return = HandleReturn

        package var handle = ConnectionHandle.lowest

        package init() {}
        package init(handle: ConnectionHandle) {
            self.handle = handle
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&handle, "Connection Handle")
        }
    }

    /// Makes the controller generate a P-256 key pair.
    ///
    /// ``HCI/LEReadLocalP256PublicKeyComplete`` reports the public key.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.36.
    package struct LEReadLocalP256PublicKey: HCICommand {
        package static var opcode: Opcode { .leReadLocalP256PublicKey }
        package typealias Return = NoReturn

        package init() {}

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {}
    }

    /// Makes the controller compute the Diffie-Hellman key from a peer's public key and the controller's latest key
    /// pair.
    ///
    /// ``HCI/LEGenerateDHKeyComplete`` reports the result.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.37.
    package struct LEGenerateDHKey: HCICommand {
        package static var opcode: Opcode { .leGenerateDHKey }
        package typealias Return = NoReturn

        package var key = PublicKey()

        package init() {}
        package init(key: PublicKey) {
            self.key = key
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.nested(&key)
        }
    }
    /// Makes the controller compute the Diffie-Hellman key from a peer's public key and a key pair that the host
    /// selects.
    ///
    /// ``HCI/LEGenerateDHKeyComplete`` reports the result.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.37.
    package struct LEGenerateDHKeyV2: HCICommand {
        package static var opcode: Opcode { .leGenerateDHKeyV2 }
        package typealias Return = NoReturn

        /// The key pair to use.
        package enum KeyType: UInt8, WireField, CustomStringConvertible {
            /// The key pair that the controller generated last.
            case generated = 0
            /// The debug key pair.
            ///
            /// The specification publishes its private key, so any receiver can decrypt the link.
            case debug = 1

            package var description: String {
                switch self {
                case .generated: "generated"
                case .debug: "debug"
                }
            }
        }

        package var key = PublicKey()
        package var type = KeyType.generated

        package init() {}
        package init(key: PublicKey, type: KeyType) {
            self.key = key
            self.type = type
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.nested(&key)
            try wire.field(&type, "Key Type")
        }
    }
}
