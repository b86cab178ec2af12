import BLEHost

/// What a server must answer to an operation on a protected attribute, said once more and in another way: by looking
/// for what is missing, kind by kind.
///
/// Core 6.0, Vol 3, Part F, 3.2.5 and 4; Part C, 10.3.1.
struct PermissionOracle {
    /// What the link has.
    var isEncrypted: Bool
    /// Whether the ends keep a key, encrypted or not.
    var isBonded: Bool
    var isAuthenticated: Bool
    var isSecureConnections: Bool
    /// The size of the key in octets; the server requires 9.
    var keySize: Int
    var isAuthorized: Bool

    /// The error code that answers the access; 0 if it is carried out.
    func code(reading: Bool, bits: UInt16) -> UInt8 {
        let shift = reading ? 0 : 1
        let isPlain = bits >> shift & 1 == 1
        let wantsEncryption = bits >> (2 + shift) & 1 == 1
        let wantsAuthentication = bits >> (4 + shift) & 1 == 1
        let wantsAuthorization = bits >> 6 & 1 == 1
        let wantsSecureConnections = bits >> (8 + shift) & 1 == 1
        let wantsKey = wantsEncryption || wantsAuthentication
        var missing: [UInt8] = []
        if wantsKey && !isEncrypted && !isBonded { missing.append(0x05) }
        if wantsKey && !isEncrypted { missing.append(0x0F) }
        if wantsAuthentication && !isAuthenticated { missing.append(0x05) }
        if wantsSecureConnections && !isSecureConnections { missing.append(0x05) }
        if wantsKey && isEncrypted && keySize < (wantsSecureConnections ? 16 : 9) { missing.append(0x0C) }
        if wantsAuthorization && !isAuthorized { missing.append(0x08) }
        if !isPlain && !wantsKey { return reading ? 0x02 : 0x03 }
        return missing.first ?? 0
    }

    /// Every link that there is.
    static let all: [PermissionOracle] = (0..<32).flatMap { bits -> [PermissionOracle] in
        [8, 9, 16].compactMap { keySize in
            let oracle = PermissionOracle(
                isEncrypted: bits & 1 != 0,
                isBonded: bits & 16 != 0,
                isAuthenticated: bits & 2 != 0,
                isSecureConnections: bits & 4 != 0,
                keySize: keySize,
                isAuthorized: bits & 8 != 0
            )
            let isPossible =
                oracle.isEncrypted || !oracle.isAuthenticated && !oracle.isSecureConnections && keySize == 16
            return isPossible ? oracle : nil
        }
    }

    /// The strength of the link's key; `nil` if the link is not encrypted.
    var strength: PairingStrength? {
        let strength = PairingStrength(
            keySize: keySize,
            isAuthenticated: isAuthenticated,
            isSecureConnections: isSecureConnections
        )
        return isEncrypted ? strength : nil
    }
}
