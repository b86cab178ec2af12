package import BLEWire

/// What a host is known by to its friends, made of the number that it drew once and tells nobody.
///
/// Nothing of it has to be stored, and it is the same on every run. What is made for one purpose says nothing of what
/// is made for another.
///
/// Core 6.0, Vol 3, Part H, 2.4.2.1 and 2.4.2.2.
package enum HostIdentity {
    /// What a host makes its private addresses with: the Identity Resolving Key.
    ///
    /// - Parameters:
    ///   - identity: The address that the host keeps: one for each of its controllers, which has a key of its own then.
    ///   - secret: A number that this host drew once and tells nobody.
    /// - Returns: The key, which paired peers get to know.
    package static func resolvingKey(of identity: DeviceAddress, secret: UInt128) -> Key128 {
        let plain = identity.onAir
        let octets = (0..<6).reversed().map { UInt8(truncatingIfNeeded: plain.value >> UInt64(8 * $0)) }
        return Key128(
            wire: CMAC.code(of: Array("identity resolving".utf8) + [plain.kind.wire] + octets, key: .init(wire: secret))
        )
    }

    /// The random static address of a host whose controllers have none.
    package static func staticAddress(secret: UInt128) -> DeviceAddress {
        let code = CMAC.code(of: Array("static address".utf8), key: Key128(wire: secret))
        // Forty-six bits that are neither all zeros nor all ones: Vol 6, Part B, 1.3.2.1.
        let bits = 1 + UInt64(truncatingIfNeeded: code) % 0x3FFF_FFFF_FFFE
        return DeviceAddress(bits | 0xC000_0000_0000, .random)
    }
}
