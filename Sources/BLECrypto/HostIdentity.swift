package import BLEWire

/// Keys and addresses of a host that are derived from its secret random number.
///
/// They need not be stored and are the same on every run. A value derived for one purpose reveals nothing about others.
///
/// Core 6.0, Vol 3, Part H, 2.4.2.1 and 2.4.2.2.
package enum HostIdentity {
    /// Derives the local IRK, with which the host generates private addresses.
    ///
    /// - Parameters:
    ///   - identity: The permanent address of the host. Each of its controllers has one, and therefore a key of its
    ///     own.
    ///   - secret: A random number of this host that is never sent.
    /// - Returns: The key, which paired peers receive.
    package static func resolvingKey(of identity: DeviceAddress, secret: UInt128) -> Key128 {
        let plain = identity.onAir
        let octets = (0..<6).reversed().map { UInt8(truncatingIfNeeded: plain.value >> UInt64(8 * $0)) }
        return Key128(
            wire: CMAC.code(of: Array("identity resolving".utf8) + [plain.kind.wire] + octets, key: .init(wire: secret))
        )
    }

    /// Derives the random static address of a host whose controllers have no public one.
    package static func staticAddress(secret: UInt128) -> DeviceAddress {
        staticAddress(from: CMAC.code(of: Array("static address".utf8), key: Key128(wire: secret)))
    }

    /// The random static address that stands for a peer on the controller's resolving list if the peer has not shown
    /// an address that it keeps.
    ///
    /// It is never sent over the air, and cannot be computed without the secret.
    ///
    /// - Parameters:
    ///   - peer: The identifier of the peer.
    ///   - secret: A random number of this host that is never sent.
    /// - Returns: The address, the same in each run.
    package static func placeholder(for peer: UInt128, secret: UInt128) -> DeviceAddress {
        let octets = (0..<16).map { UInt8(truncatingIfNeeded: peer >> UInt128(8 * $0)) }
        return staticAddress(
            from: CMAC.code(of: Array("placeholder address".utf8) + octets, key: Key128(wire: secret))
        )
    }

    private static func staticAddress(from code: UInt128) -> DeviceAddress {
        // Forty-six bits that are neither all zeros nor all ones: Vol 6, Part B, 1.3.2.1.
        let bits = 1 + UInt64(truncatingIfNeeded: code) % 0x3FFF_FFFF_FFFE
        return DeviceAddress(bits | 0xC000_0000_0000, .random)
    }
}
