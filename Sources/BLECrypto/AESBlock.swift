package import BLEWire
import Crypto
import CryptoExtras

/// AES-128 encryption of a single block: the security function `e`, on which all others are based.
///
/// Keys and blocks are numbers without an octet order: the most significant octet is the first one in FIPS 197. Packets
/// carry them in reverse, least significant octet first.
///
/// Core 6.0, Vol 3, Part H, 2.2.1.
package enum AESBlock {
    /// Returns `block` encrypted with `key`.
    package static func encrypt(_ block: UInt128, key: Key128) -> UInt128 {
        var octets = block.bigEndianOctets
        do {
            try AES.permute(&octets, key: SymmetricKey(data: key.wire.bigEndianOctets))
        } catch {
            preconditionFailure("sixteen octets are a block and a key of AES-128: \(error)")
        }
        return UInt128(bigEndianOctets: octets)
    }
}

extension UInt128 {
    /// The octets of this number, most significant first.
    var bigEndianOctets: [UInt8] { littleEndianOctets.reversed() }

    /// Creates a number from at most sixteen octets, most significant first.
    init(bigEndianOctets octets: some Sequence<UInt8>) {
        self = octets.reduce(0) { $0 << 8 | UInt128($1) }
    }
}
