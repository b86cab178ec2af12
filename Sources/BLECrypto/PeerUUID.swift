package import BLEWire

/// Identifiers for peers that apps may keep: the same for one device on every run of one host, another on each host,
/// and no way back to the address.
package enum PeerUUID {
    /// The identifier of the device with `address`: a UUID of version 8, RFC 9562, 5.8.
    ///
    /// It is the CMAC of seven octets, the kind of the address (0 public, 1 random) and then the address with the most
    /// significant octet first, in which 4 bits become the version and 2 the variant. An identity address that the
    /// controller resolved counts as the address that it is.
    ///
    /// - Parameters:
    ///   - address: An address that the device keeps: public, random static, or an identity.
    ///   - secret: A number that this host drew once and tells nobody.
    /// - Returns: The UUID as a number; its most significant octet is the first when it is written.
    package static func identifier(of address: DeviceAddress, secret: UInt128) -> UInt128 {
        let plain = address.onAir
        let octets = (0..<6).reversed().map { UInt8(truncatingIfNeeded: plain.value >> UInt64(8 * $0)) }
        let code = CMAC.code(of: [plain.kind.wire] + octets, key: Key128(wire: secret))
        return code & ~versionAndVariant.mask | versionAndVariant.value
    }

    /// Where a UUID has its version and variant, and what they are in one of version 8.
    private static let versionAndVariant = (
        mask: UInt128(0xF) << 76 | UInt128(0x3) << 62,
        value: UInt128(0x8) << 76 | UInt128(0x2) << 62
    )
}
