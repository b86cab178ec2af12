extension SMP {
    /// The commitment to a random number that is disclosed later.
    ///
    /// Core 6.0, Vol 3, Part H, 3.5.3.
    package struct PairingConfirm: Packet {
        package var value = Key128.zero

        package init() {}
        package init(_ value: Key128) { self.value = value }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&value, "Confirm Value")
        }
    }

    /// A random number.
    ///
    /// Core 6.0, Vol 3, Part H, 3.5.4.
    package struct PairingRandom: Packet {
        package var value = Key128.zero

        package init() {}
        package init(_ value: Key128) { self.value = value }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&value, "Random Value")
        }
    }

    /// The failure of pairing.
    ///
    /// Core 6.0, Vol 3, Part H, 3.5.5.
    package struct PairingFailed: Packet {
        package var reason = Reason(wire: 0)

        package init() {}
        package init(_ reason: Reason) { self.reason = reason }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&reason, "Reason")
        }
    }

    /// A P-256 public key.
    ///
    /// Core 6.0, Vol 3, Part H, 3.5.6.
    package struct PairingPublicKey: Packet {
        package var key = HCI.PublicKey()

        package init() {}
        package init(_ key: HCI.PublicKey) { self.key = key }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.nested(&key)
        }
    }

    /// Proof that the sender computed the same Diffie-Hellman key from the same exchange.
    ///
    /// Core 6.0, Vol 3, Part H, 3.5.7.
    package struct PairingDHKeyCheck: Packet {
        package var value = Key128.zero

        package init() {}
        package init(_ value: Key128) { self.value = value }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&value, "DHKey Check")
        }
    }

    /// The user's keypresses while entering a passkey.
    ///
    /// Core 6.0, Vol 3, Part H, 3.5.8.
    package struct PairingKeypressNotification: Packet {
        /// 0 entry started, 1 digit entered, 2 digit erased, 3 cleared, 4 entry completed; others are reserved.
        package var type: UInt8 = 0

        package init() {}
        package init(type: UInt8) { self.type = type }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.integer(&type, "Notification Type")
        }
    }
}
