extension LL {
    /// LL_ENC_REQ: the identification of the key for the link, and the central's halves of the session key diversifier
    /// and the initialization vector.
    ///
    /// Core 6.0, Vol 6, Part B, 2.4.2.4.
    package struct EncryptionRequest: Packet, Hashable {
        /// The Rand value, which identifies a key from legacy pairing; 0 for a key from LE Secure Connections.
        package var random: UInt64 = 0
        /// The EDIV value, which identifies a key from legacy pairing; 0 for a key from LE Secure Connections.
        package var diversifier: UInt16 = 0
        package var keyDiversifier: UInt64 = 0
        package var vector: UInt32 = 0

        package init() {}
        package init(random: UInt64, diversifier: UInt16, keyDiversifier: UInt64, vector: UInt32) {
            self.random = random
            self.diversifier = diversifier
            self.keyDiversifier = keyDiversifier
            self.vector = vector
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.integer(&random, "Rand")
            try wire.integer(&diversifier, "EDIV")
            try wire.integer(&keyDiversifier, "SKD_C")
            try wire.integer(&vector, "IV_C")
        }
    }

    /// LL_ENC_RSP: the peripheral's halves of the session key diversifier and the initialization vector.
    ///
    /// Core 6.0, Vol 6, Part B, 2.4.2.5.
    package struct EncryptionResponse: Packet, Hashable {
        package var keyDiversifier: UInt64 = 0
        package var vector: UInt32 = 0

        package init() {}
        package init(keyDiversifier: UInt64, vector: UInt32) {
            self.keyDiversifier = keyDiversifier
            self.vector = vector
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.integer(&keyDiversifier, "SKD_P")
            try wire.integer(&vector, "IV_P")
        }
    }
}

extension LL.ControlOpcode {
    /// True for the PDUs that start, pause and resume encryption.
    ///
    /// Core 6.0, Vol 6, Part B, 5.1.3.
    package var isOfEncryption: Bool {
        switch self {
        case .encryptionRequest, .encryptionResponse, .startEncryptionRequest, .startEncryptionResponse,
            .pauseEncryptionRequest, .pauseEncryptionResponse:
            true
        default: false
        }
    }
}
