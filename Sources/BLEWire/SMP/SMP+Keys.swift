extension SMP {
    /// The LTK that a device distributes after legacy pairing.
    ///
    /// Core 6.0, Vol 3, Part H, 3.6.2.
    package struct EncryptionInformation: Packet {
        package var key = Key128.zero

        package init() {}
        package init(_ key: Key128) { self.key = key }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&key, "Long Term Key")
        }
    }

    /// The values that identify an LTK that was distributed after legacy pairing.
    ///
    /// Core 6.0, Vol 3, Part H, 3.6.3.
    package struct CentralIdentification: Packet {
        package var diversifier: UInt16 = 0
        package var random: UInt64 = 0

        package init() {}
        package init(diversifier: UInt16, random: UInt64) {
            self.diversifier = diversifier
            self.random = random
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.integer(&diversifier, "EDIV")
            try wire.integer(&random, "Rand")
        }
    }

    /// The IRK of a device.
    ///
    /// Core 6.0, Vol 3, Part H, 3.6.4.
    package struct IdentityInformation: Packet {
        /// The IRK; all zeros if the device does not use private addresses.
        package var key = Key128.zero

        package init() {}
        package init(_ key: Key128) { self.key = key }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&key, "Identity Resolving Key")
        }
    }

    /// The identity address of a device.
    ///
    /// Core 6.0, Vol 3, Part H, 3.6.5.
    package struct IdentityAddressInformation: Packet {
        /// A public or random static address; a peer that sends another kind violates the specification.
        package var address = DeviceAddress.none

        package init() {}
        package init(_ address: DeviceAddress) { self.address = address.onAir }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.typedAddress(&address, kind: "AddrType", "BD_ADDR")
        }
    }

    /// The CSRK of a device.
    ///
    /// Core 6.0, Vol 3, Part H, 3.6.6.
    package struct SigningInformation: Packet {
        package var key = Key128.zero

        package init() {}
        package init(_ key: Key128) { self.key = key }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&key, "Signature Key")
        }
    }
}
