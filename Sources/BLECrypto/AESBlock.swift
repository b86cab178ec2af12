package import BLEWire
import Crypto
import CryptoExtras

/// AES-128 encryption of a single block: the security function `e`, on which all other functions are based.
///
/// A key or block is a number whose most significant octet is the first octet in FIPS 197. Packets carry the octets in
/// reverse, least significant first.
///
/// Core 6.0, Vol 3, Part H, 2.2.1.
package enum AESBlock {
    /// Returns `block` encrypted with `key`.
    package static func encrypt(_ block: UInt128, key: Key128) -> UInt128 {
        var octets = block.bigEndianOctets
        do {
            try AES.permute(&octets, key: SymmetricKey(data: key.wire.bigEndianOctets))
        } catch {
            preconditionFailure("AES-128 takes a block and a key of 16 octets each: \(error)")
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
