package import BLEWire

/// Random device addresses: resolvable, non-resolvable and static.
///
/// | kind | two highest bits | the rest |
/// | --- | --- | --- |
/// | resolvable | 01 | 22 random bits, then 24 bits that are computed from them with an IRK |
/// | non-resolvable | 00 | 46 random bits |
/// | static | 11 | 46 random bits, kept until the device restarts |
///
/// Core 6.0, Vol 6, Part B, 1.3.2; Vol 3, Part H, 2.2.2.
package enum RandomAddress {
    /// Computes the random address function `ah`: a 24-bit hash of `prand` with `key`.
    ///
    /// Core 6.0, Vol 3, Part H, 2.2.2.
    package static func hash(of prand: UInt32, key: Key128) -> UInt32 {
        UInt32(truncatingIfNeeded: AESBlock.encrypt(UInt128(prand & 0xFF_FFFF), key: key)) & 0xFF_FFFF
    }

    /// Generates an address that can be resolved with `key`.
    package static func makeResolvable(key: Key128, using random: inout some RandomNumberGenerator) -> DeviceAddress {
        // The random part is neither all zeros nor all ones: Core 6.0, Vol 6, Part B, 1.3.2.2.
        let prand = UInt32.random(in: 1..<0x3F_FFFF, using: &random) | 0x40_0000
        return DeviceAddress(UInt64(prand) << 24 | UInt64(hash(of: prand, key: key)), .random)
    }

    /// Generates an address that cannot be resolved.
    package static func makeNonResolvable(using random: inout some RandomNumberGenerator) -> DeviceAddress {
        DeviceAddress(.random(in: randomBits, using: &random), .random)
    }

    /// Generates a static address.
    package static func makeStatic(using random: inout some RandomNumberGenerator) -> DeviceAddress {
        DeviceAddress(.random(in: randomBits, using: &random) | 0xC000_0000_0000, .random)
    }

    /// Returns whether `address` is a resolvable private address that was generated with `key`.
    package static func isMade(_ address: DeviceAddress, with key: Key128) -> Bool {
        guard address.isResolvable else { return false }
        let prand = UInt32(truncatingIfNeeded: address.value >> 24)
        return hash(of: prand, key: key) == UInt32(truncatingIfNeeded: address.value & 0xFF_FFFF)
    }

    /// The allowed values of 46 random bits: every value except all zeros and all ones.
    private static let randomBits = UInt64(1)..<0x3FFF_FFFF_FFFF
}
