package import BLEWire
import Crypto
import CryptoExtras

/// AES-CMAC: the authentication code of a message under a 128-bit key.
///
/// RFC 4493; Core 6.0, Vol 3, Part H, 2.2.5.
package enum CMAC {
    /// Returns the authentication code of `message`.
    ///
    /// - Parameters:
    ///   - message: Any number of octets, in the order of RFC 4493: the most significant octet of a number comes first.
    ///   - key: A key whose most significant octet is the first octet in RFC 4493. Packets carry that octet last.
    /// - Returns: A number whose most significant octet is the first octet of the code.
    package static func code(of message: [UInt8], key: Key128) -> UInt128 {
        do {
            var code = try AES.CMAC(key: SymmetricKey(data: key.wire.bigEndianOctets))
            code.update(data: message)
            return UInt128(bigEndianOctets: code.finalize())
        } catch {
            preconditionFailure("AES-CMAC takes a key of 16 octets: \(error)")
        }
    }
}
