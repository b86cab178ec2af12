package import BLEWire

/// The keys and addresses of a host, derived from its secret random number.
///
/// They need not be stored, because they are the same in every run. A value that is derived for one purpose reveals
/// nothing about the values for other purposes.
///
/// Core 6.0, Vol 3, Part H, 2.4.2.1 and 2.4.2.2.
package enum HostIdentity {
    /// Derives the local IRK, with which the host generates private addresses.
    ///
    /// - Parameters:
    ///   - identity: The permanent address of the host. A host has one address for each controller, and so one key for
    ///     each.
    ///   - secret: A random number of this host that is never sent.
    /// - Returns: The IRK, which the host sends to peers that pair with it.
    package static func resolvingKey(of identity: DeviceAddress, secret: UInt128) -> Key128 {
        let plain = identity.onAir
        let octets = (0..<6).reversed().map { UInt8(truncatingIfNeeded: plain.value >> UInt64(8 * $0)) }
        return Key128(
            wire: CMAC.code(of: Array("identity resolving".utf8) + [plain.kind.wire] + octets, key: .init(wire: secret))
        )
    }

    /// Derives the random static address that a host uses if its controller has no public address.
    package static func staticAddress(secret: UInt128) -> DeviceAddress {
        staticAddress(from: CMAC.code(of: Array("static address".utf8), key: Key128(wire: secret)))
    }

    /// Derives a random static address that stands for a peer in the controller's resolving list, until the peer's own
    /// permanent address is known.
    ///
    /// The address is never sent over the air, and cannot be computed without the secret.
    ///
    /// - Parameters:
    ///   - peer: The identifier of the peer.
    ///   - secret: A random number of this host that is never sent.
    /// - Returns: The address, which is the same in every run.
    package static func placeholder(for peer: UInt128, secret: UInt128) -> DeviceAddress {
        let octets = (0..<16).map { UInt8(truncatingIfNeeded: peer >> UInt128(8 * $0)) }
        return staticAddress(
            from: CMAC.code(of: Array("placeholder address".utf8) + octets, key: Key128(wire: secret))
        )
    }

    private static func staticAddress(from code: UInt128) -> DeviceAddress {
        // 46 bits that are neither all zeros nor all ones: Core 6.0, Vol 6, Part B, 1.3.2.1.
        let bits = 1 + UInt64(truncatingIfNeeded: code) % 0x3FFF_FFFF_FFFE
        return DeviceAddress(bits | 0xC000_0000_0000, .random)
    }
}
