extension HCI {
    /// Encrypts a connection, or encrypts it anew.
    ///
    /// ``HCI/EncryptionChange`` or ``HCI/EncryptionKeyRefreshComplete`` tells the outcome.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.24.
    package struct LEEnableEncryption: HCICommand {
        package static var opcode: Opcode { .leEnableEncryption }
        package typealias Return = NoReturn

        package var handle = ConnectionHandle.lowest
        /// Names the key to a peer that paired the legacy way; 0 otherwise.
        package var random: UInt64 = 0
        /// Names the key to a peer that paired the legacy way; 0 otherwise.
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

    /// Gives the key that the peer wants to encrypt with.
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

    /// Says that there is no key for the peer.
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

    /// Has the controller make a pair of keys.
    ///
    /// ``HCI/LEReadLocalP256PublicKeyComplete`` brings the public one.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.36.
    package struct LEReadLocalP256PublicKey: HCICommand {
        package static var opcode: Opcode { .leReadLocalP256PublicKey }
        package typealias Return = NoReturn

        package init() {}

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {}
    }

    /// Has the controller agree on a secret with the public key of a peer, with the key pair that it made last.
    ///
    /// ``HCI/LEGenerateDHKeyComplete`` brings it.
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
    /// Has the controller agree on a secret with the public key of a peer, with a key pair that the host chooses.
    ///
    /// ``HCI/LEGenerateDHKeyComplete`` brings it.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.37.
    package struct LEGenerateDHKeyV2: HCICommand {
        package static var opcode: Opcode { .leGenerateDHKeyV2 }
        package typealias Return = NoReturn

        /// Which key pair is used.
        package enum KeyType: UInt8, WireField, CustomStringConvertible {
            /// The one that the controller made last.
            case generated = 0
            /// The one that everybody knows, so that links can be listened to.
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
