package import BLEWire
import Crypto
import CryptoExtras

/// AES-128 of a single block: the security function `e`, which every other one is made of.
///
/// Keys and blocks are numbers, so that no octet order is part of them: their most significant octet is the first that
/// AES takes, as in FIPS 197. Packets carry them the other way round, least significant octet first.
///
/// Core 6.0, Vol 3, Part H, 2.2.1.
package enum AESBlock {
    /// The encryption of `block` with `key`.
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

    /// The number that at most sixteen octets are, most significant first.
    init(bigEndianOctets octets: some Sequence<UInt8>) {
        self = octets.reduce(0) { $0 << 8 | UInt128($1) }
    }
}
