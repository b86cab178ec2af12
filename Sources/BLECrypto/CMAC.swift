package import BLEWire
import Crypto
import CryptoExtras

/// AES-CMAC with a 128-bit key: an authentication code of a message.
///
/// RFC 4493; Core 6.0, Vol 3, Part H, 2.2.5.
package enum CMAC {
    /// Returns the authentication code of `message`.
    ///
    /// - Parameters:
    ///   - message: Any number of octets, in the order in which RFC 4493 takes them, the most significant of a number
    ///     first.
    ///   - key: Its most significant octet, the last one on the air, is the first that RFC 4493 takes.
    /// - Returns: A number, whose most significant octet is the first of the code.
    package static func code(of message: [UInt8], key: Key128) -> UInt128 {
        do {
            var code = try AES.CMAC(key: SymmetricKey(data: key.wire.bigEndianOctets))
            code.update(data: message)
            return UInt128(bigEndianOctets: code.finalize())
        } catch {
            preconditionFailure("sixteen octets are a key of AES-128: \(error)")
        }
    }
}
