package import BLEWire
import Crypto
import CryptoExtras

/// AES-CCM, which encrypts and authenticates messages of up to 65,535 octets, with a message integrity code of four
/// octets.
///
/// RFC 3610, with M = 4 and L = 2; Core 6.0, Vol 6, Part E, 2.
package struct CCM: Sendable {
    /// The length of the message integrity code, in octets.
    package static let codeLength = 4
    /// The length of the nonce, in octets.
    ///
    /// With the same key, each message needs a different nonce.
    package static let nonceLength = 13

    private static let blockLength = 16
    private static let zero = [UInt8](repeating: 0, count: blockLength)

    private let key: SymmetricKey

    /// Creates the cipher.
    ///
    /// - Parameter key: A key whose most significant octet is the first octet for AES.
    package init(key: Key128) { self.key = SymmetricKey(data: key.wire.bigEndianOctets) }

    /// Encrypts `message` and appends its message integrity code.
    ///
    /// - Parameters:
    ///   - message: Up to 65,535 octets.
    ///   - nonce: Thirteen octets that are used only once with this key.
    ///   - associated: An additional octet that is authenticated but not encrypted.
    /// - Returns: The encrypted message, followed by the message integrity code.
    package func seal(_ message: ArraySlice<UInt8>, nonce: [UInt8], associated: UInt8) -> [UInt8] {
        let blocks = keyed(code(of: message, nonce: nonce, associated: associated) + message, nonce: nonce)
        return Array(blocks[Self.blockLength...] + blocks[..<Self.codeLength])
    }

    /// Decrypts the result of ``seal(_:nonce:associated:)``, and checks its message integrity code.
    ///
    /// - Returns: The message; `nil` if `sealed` was changed, or was encrypted with another key, nonce or additional
    ///   octet.
    package func open(_ sealed: [UInt8], nonce: [UInt8], associated: UInt8) -> [UInt8]? {
        guard sealed.count >= Self.codeLength else { return nil }
        let code = sealed.suffix(Self.codeLength) + Self.zero[Self.codeLength...]
        let blocks = keyed(code + sealed.dropLast(Self.codeLength), nonce: nonce)
        let message = blocks[Self.blockLength...]
        let expected = self.code(of: message, nonce: nonce, associated: associated)
        return expected.prefix(Self.codeLength) == blocks[..<Self.codeLength] ? Array(message) : nil
    }

    /// Returns the CBC-MAC block of a message.
    ///
    /// The first four octets of the block are the message integrity code.
    private func code(of message: ArraySlice<UInt8>, nonce: [UInt8], associated: UInt8) -> [UInt8] {
        precondition(
            nonce.count == Self.nonceLength && message.count <= 0xFFFF,
            "a nonce has \(Self.nonceLength) octets and a message at most 65535"
        )
        var input: [UInt8] = []
        input.reserveCapacity(3 * Self.blockLength + message.count)
        // Flags: there is an associated octet (0x40), M = 4 (0x08), L = 2 (0x01).
        input.append(0x49)
        input += nonce
        input += [UInt8(message.count >> 8), UInt8(message.count & 0xFF)]
        input += [0, 1, associated]
        input += Self.zero[3...]
        input += message
        input += Self.zero[..<((Self.blockLength - message.count % Self.blockLength) % Self.blockLength)]
        do {
            let start = try AES._CBC.IV(ivBytes: Self.zero)
            return [UInt8](try AES._CBC.encrypt(input, using: key, iv: start, noPadding: true).suffix(Self.blockLength))
        } catch {
            preconditionFailure("AES-CBC takes whole blocks and a key of 16 octets: \(error)")
        }
    }

    /// Encrypts or decrypts `octets`: either way, combines them with the key stream by exclusive or.
    private func keyed(_ octets: [UInt8], nonce: [UInt8]) -> [UInt8] {
        do {
            let counter = try AES._CTR.Nonce(nonceBytes: [0x01] + nonce + [0, 0])
            return [UInt8](try AES._CTR.encrypt(octets, using: key, nonce: counter))
        } catch {
            preconditionFailure("AES-CTR takes a counter and a key of 16 octets each: \(error)")
        }
    }
}
