import BLEWire

/// A source of random numbers.
package typealias RandomSource = any RandomNumberGenerator & Sendable

/// An action that a phase of a pairing returns.
///
/// ``fail(_:)`` and ``agreed(_:)`` end the phase.
enum PairingAction: Equatable {
    case send(SMPPacket)
    case ask(PairingQuestion)
    /// Pairing has failed; send this reason to the peer.
    case fail(SMP.Reason)
    /// The devices have authenticated each other and agreed on this key of 16 octets.
    case agreed(Key128)
}

extension Key128 {
    /// Returns a random key or number of 128 bits.
    static func random(using random: inout RandomSource) -> Self {
        let low = random.next(), high = random.next()
        return Self(wire: UInt128(high) << 64 | UInt128(low))
    }
}
