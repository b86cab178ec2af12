package import BLEWire
import Crypto

/// A P-256 key pair for a Diffie-Hellman key agreement.
///
/// Core 6.0, Vol 3, Part H, 2.3.5.6.1.
package struct P256KeyPair: Sendable {
    private let privateKey: P256.KeyAgreement.PrivateKey

    /// Generates a pair.
    ///
    /// The same random numbers give the same pair.
    package init(using random: inout some RandomNumberGenerator) {
        // The probability that a random number is not a valid private key is less than 1 in 2³².
        while true {
            let octets = (0..<4).flatMap { _ in (random.next() as UInt64).littleEndianOctets }
            guard let key = try? P256.KeyAgreement.PrivateKey(rawRepresentation: octets) else { continue }
            privateKey = key
            return
        }
    }

    /// Creates the pair that belongs to a private key; returns `nil` if the octets are not a valid key.
    ///
    /// - Parameter octets: 32 octets, the least significant first.
    package init?(privateKey octets: [UInt8]) {
        guard let key = try? P256.KeyAgreement.PrivateKey(rawRepresentation: octets.reversed()) else { return nil }
        privateKey = key
    }

    /// Creates the pair that belongs to a private key that is known to be valid.
    ///
    /// - Parameter octets: 32 octets, the most significant first.
    private init(known octets: [UInt8]) {
        do { privateKey = try P256.KeyAgreement.PrivateKey(rawRepresentation: octets) } catch {
            preconditionFailure("the octets must be a P-256 private key: \(error)")
        }
    }

    /// The debug key pair of the Core Specification.
    ///
    /// Anyone can decrypt links that use it.
    package static let debug = Self(known: [
        0x3F, 0x49, 0xF6, 0xD4, 0xA3, 0xC5, 0x5F, 0x38, 0x74, 0xC9, 0xB3, 0xE3, 0xD2, 0x10, 0x3F, 0x50,
        0x4A, 0xFF, 0x60, 0x7B, 0xEB, 0x40, 0xB7, 0x99, 0x58, 0x99, 0xB8, 0xA6, 0xCD, 0x3C, 0x1A, 0xBD,
    ])

    /// The public key, to send to the peer.
    package var publicKey: HCI.PublicKey {
        let octets = [UInt8](privateKey.publicKey.rawRepresentation)
        guard let key = HCI.PublicKey(x: octets.prefix(32).reversed(), y: octets.dropFirst(32).reversed()) else {
            preconditionFailure("a public key has two coordinates of 32 octets")
        }
        return key
    }

    /// Computes the Diffie-Hellman key from this private key and a peer's public key.
    ///
    /// - Returns: 32 octets, least significant first; `nil` if `peer` is not a point on the curve, because then the
    ///   result could reveal part of the private key.
    package func secret(with peer: HCI.PublicKey) -> [UInt8]? {
        guard let key = try? P256.KeyAgreement.PublicKey(rawRepresentation: peer.x.reversed() + peer.y.reversed()),
            let secret = try? privateKey.sharedSecretFromKeyAgreement(with: key)
        else { return nil }
        return unsafe secret.withUnsafeBytes { octets in unsafe octets.reversed() }
    }
}
