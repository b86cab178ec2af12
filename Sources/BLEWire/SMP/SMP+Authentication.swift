extension SMP {
    /// A commitment to a random number, which the sender discloses later in ``PairingRandom``.
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

    /// The random number that the sender has committed to with ``PairingConfirm``.
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

    /// The message that pairing has failed, with the reason.
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

    /// The sender's P-256 public key.
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

    /// A proof that the sender has computed the same Diffie-Hellman key as the receiver, in the same exchange.
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

    /// A message about a key that the user has pressed while entering a passkey.
    ///
    /// Core 6.0, Vol 3, Part H, 3.5.8.
    package struct PairingKeypressNotification: Packet {
        /// The type of keypress: 0 entry started, 1 digit entered, 2 digit erased, 3 cleared, 4 entry completed; other
        /// values are reserved.
        package var type: UInt8 = 0

        package init() {}
        package init(type: UInt8) { self.type = type }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.integer(&type, "Notification Type")
        }
    }
}
