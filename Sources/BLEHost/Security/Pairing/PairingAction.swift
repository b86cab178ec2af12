import BLEWire

/// A source of random numbers.
package typealias RandomSource = any RandomNumberGenerator & Sendable

/// An action of a pairing phase.
///
/// The last two end it.
enum PairingAction: Equatable {
    case send(SMPPacket)
    case ask(PairingQuestion)
    /// Pairing failed; the peer is told this reason.
    case fail(SMP.Reason)
    /// The devices have authenticated each other and agreed on this key of 16 octets.
    case agreed(Key128)
}

extension Key128 {
    /// Returns an unpredictable number.
    static func random(using random: inout RandomSource) -> Self {
        let low = random.next(), high = random.next()
        return Self(wire: UInt128(high) << 64 | UInt128(low))
    }
}
