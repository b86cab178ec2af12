extension HCI {
    /// A peer's request to encrypt a link.
    ///
    /// The host must respond with the key, or report that it has none.
    ///
    /// Core 6.0, Vol 4, Part E, 7.7.65.5.
    package struct LELongTermKeyRequest: HCILEEvent {
        package static var subevent: LESubevent { .longTermKeyRequest }

        package var handle = ConnectionHandle.lowest
        /// The Rand value, which identifies a key from legacy pairing; 0 for a key from LE Secure Connections.
        package var random: UInt64 = 0
        /// The EDIV value, which identifies a key from legacy pairing; 0 for a key from LE Secure Connections.
        package var diversifier: UInt16 = 0

        package init() {}
        package init(handle: ConnectionHandle, random: UInt64, diversifier: UInt16) {
            self.handle = handle
            self.random = random
            self.diversifier = diversifier
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&handle, "Connection Handle")
            try wire.integer(&random, "Random Number")
            try wire.integer(&diversifier, "Encrypted Diversifier")
        }
    }

    /// The public key of the key pair that the controller has generated, or the reason why it could not generate one.
    ///
    /// Core 6.0, Vol 4, Part E, 7.7.65.8.
    package struct LEReadLocalP256PublicKeyComplete: HCILEEvent {
        package static var subevent: LESubevent { .readLocalP256PublicKeyComplete }

        package var status = Status.success
        package var key = PublicKey()

        package init() {}
        package init(status: Status, key: PublicKey) {
            self.status = status
            self.key = key
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&status, "Status")
            try wire.nested(&key)
        }
    }

    /// The Diffie-Hellman key that the controller has computed, or the reason why it could not compute it.
    ///
    /// Core 6.0, Vol 4, Part E, 7.7.65.9.
    package struct LEGenerateDHKeyComplete: HCILEEvent {
        package static var subevent: LESubevent { .generateDHKeyComplete }

        package var status = Status.success
        /// The key: 32 octets, least significant first.
        package var key = [UInt8](repeating: 0, count: 32)

        package init() {}
        package init(status: Status, key: [UInt8]) {
            self.status = status
            self.key = key
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&status, "Status")
            try wire.bytes(&key, count: 32, "DH Key")
        }
    }
}
