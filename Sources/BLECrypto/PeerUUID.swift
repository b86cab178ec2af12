package import BLEWire

/// The identifiers by which apps know peers, derived from the peers' addresses.
///
/// A device always has the same identifier on one host, and a different one on every other host. The address cannot be
/// computed from the identifier.
package enum PeerUUID {
    /// Returns the identifier of the device with `address`: a UUID of version 8 (RFC 9562, 5.8).
    ///
    /// The identifier is the CMAC of seven octets: the kind of the address (0 public, 1 random), and the address, most
    /// significant octet first. The version replaces four bits, and the variant two. The result for an identity address
    /// is the same whether the controller received that address over the air or resolved a private address to it.
    ///
    /// - Parameters:
    ///   - address: A permanent address of the device: public, random static, or an identity address.
    ///   - secret: A random number of this host that is never sent.
    /// - Returns: The UUID as a number. Its most significant octet comes first in the written form.
    package static func identifier(of address: DeviceAddress, secret: UInt128) -> UInt128 {
        let plain = address.onAir
        let octets = (0..<6).reversed().map { UInt8(truncatingIfNeeded: plain.value >> UInt64(8 * $0)) }
        let code = CMAC.code(of: [plain.kind.wire] + octets, key: Key128(wire: secret))
        return code & ~versionAndVariant.mask | versionAndVariant.value
    }

    /// The mask of the version and variant bits in a UUID, and the values of these bits in version 8.
    private static let versionAndVariant = (
        mask: UInt128(0xF) << 76 | UInt128(0x3) << 62,
        value: UInt128(0x8) << 76 | UInt128(0x2) << 62
    )
}
