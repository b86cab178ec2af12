import BLECrypto
import BLEWire

/// The session key and initialization vector of an encrypted link.
///
/// Core 6.0, Vol 6, Part B, 5.1.3.1.
struct EncryptionSession: Sendable {
    let key: Key128
    let vector: UInt64

    /// Derives the session from the long-term key and the random values of both ends.
    init(longTermKey: Key128, _ request: LL.EncryptionRequest, _ response: LL.EncryptionResponse) {
        let diversifier = UInt128(response.keyDiversifier) << 64 | UInt128(request.keyDiversifier)
        key = Key128(wire: AESBlock.encrypt(diversifier, key: longTermKey))
        vector = UInt64(response.vector) << 32 | UInt64(request.vector)
    }
}

/// A cipher for the packets of a session in one direction.
///
/// Both ends count the packets, because encrypting and decrypting a packet requires its number, which is not sent.
///
/// Core 6.0, Vol 6, Part E, 2.
struct PacketCipher: Sendable {
    private let ccm: CCM
    private let vector: [UInt8]
    /// The bit that distinguishes the two directions.
    private let direction: UInt64
    /// The number of the next packet.
    ///
    /// It has 39 bits, which last for seventeen years at a thousand packets a second.
    private var counter: UInt64 = 0

    init(_ session: EncryptionSession, sender: Role) {
        ccm = CCM(key: session.key)
        vector = session.vector.littleEndianOctets
        direction = sender == .central ? 1 << 39 : 0
    }

    /// Encrypts the payload of the next packet and appends its message integrity code.
    mutating func seal(_ payload: ArraySlice<UInt8>, _ content: LL.DataHeader.Content) -> [UInt8] {
        ccm.seal(payload, nonce: nextNonce(), associated: content.rawValue)
    }

    /// Decrypts the payload of the next packet; returns `nil` if its message integrity code is wrong.
    mutating func open(_ sealed: [UInt8], _ content: LL.DataHeader.Content) -> [UInt8]? {
        ccm.open(sealed, nonce: nextNonce(), associated: content.rawValue)
    }

    private mutating func nextNonce() -> [UInt8] {
        let number = counter | direction
        counter = (counter + 1) & 0x7F_FFFF_FFFF
        return number.littleEndianOctets.prefix(5) + vector
    }
}
