package import BLEWire

/// Peer identifiers for apps: stable for a device on one host, different on each host, and not reversible to the
/// address.
package enum PeerUUID {
    /// Returns the identifier of the device with `address`: a UUID of version 8 (RFC 9562, 5.8).
    ///
    /// It is the CMAC of seven octets: the kind of the address (0 public, 1 random) and the address, most significant
    /// octet first. Four bits are replaced by the version and two by the variant. An identity address that the
    /// controller resolved is treated like the same address on the air.
    ///
    /// - Parameters:
    ///   - address: A permanent address of the device: public, random static, or an identity address.
    ///   - secret: A random number of this host that is never sent.
    /// - Returns: The UUID as a number whose most significant octet is written first.
    package static func identifier(of address: DeviceAddress, secret: UInt128) -> UInt128 {
        let plain = address.onAir
        let octets = (0..<6).reversed().map { UInt8(truncatingIfNeeded: plain.value >> UInt64(8 * $0)) }
        let code = CMAC.code(of: [plain.kind.wire] + octets, key: Key128(wire: secret))
        return code & ~versionAndVariant.mask | versionAndVariant.value
    }

    /// The mask of the version and variant bits in a UUID, and their values in version 8.
    private static let versionAndVariant = (
        mask: UInt128(0xF) << 76 | UInt128(0x3) << 62,
        value: UInt128(0x8) << 76 | UInt128(0x2) << 62
    )
}
