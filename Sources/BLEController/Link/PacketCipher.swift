import BLECrypto
import BLEWire

/// What both ends of a link agreed to encrypt with, until they agree on something else.
///
/// Core 6.0, Vol 6, Part B, 5.1.3.1.
struct EncryptionSession: Sendable {
    let key: Key128
    let vector: UInt64

    /// Makes the session that follows from the key of the hosts and what each end drew.
    init(longTermKey: Key128, _ request: LL.EncryptionRequest, _ response: LL.EncryptionResponse) {
        let diversifier = UInt128(response.keyDiversifier) << 64 | UInt128(request.keyDiversifier)
        key = Key128(wire: AESBlock.encrypt(diversifier, key: longTermKey))
        vector = UInt64(response.vector) << 32 | UInt64(request.vector)
    }
}

/// Seals or opens the packets of a session that go one way: each has a number of its own, which is not sent.
///
/// Core 6.0, Vol 6, Part E, 2.
struct PacketCipher: Sendable {
    private let ccm: CCM
    private let vector: [UInt8]
    /// The bit that keeps the numbers of the two ways apart.
    private let direction: UInt64
    /// The number of the next packet, of 39 bits: enough for seventeen years at a thousand packets a second.
    private var counter: UInt64 = 0

    init(_ session: EncryptionSession, sender: Role) {
        ccm = CCM(key: session.key)
        vector = session.vector.littleEndianOctets
        direction = sender == .central ? 1 << 39 : 0
    }

    /// Encrypts the payload of the next packet and adds its code.
    mutating func seal(_ payload: ArraySlice<UInt8>, _ content: LL.DataHeader.Content) -> [UInt8] {
        ccm.seal(payload, nonce: nextNonce(), associated: content.rawValue)
    }

    /// Decrypts the payload of the next packet; `nil` if the other end did not seal it.
    mutating func open(_ sealed: [UInt8], _ content: LL.DataHeader.Content) -> [UInt8]? {
        ccm.open(sealed, nonce: nextNonce(), associated: content.rawValue)
    }

    private mutating func nextNonce() -> [UInt8] {
        let number = counter | direction
        counter = (counter + 1) & 0x7F_FFFF_FFFF
        return number.littleEndianOctets.prefix(5) + vector
    }
}
