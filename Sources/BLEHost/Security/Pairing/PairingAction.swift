import BLEWire

/// Where random numbers come from.
package typealias RandomSource = any RandomNumberGenerator & Sendable

/// What a phase of pairing wants done; the last two end it.
enum PairingAction: Equatable {
    case send(SMPPacket)
    case ask(PairingQuestion)
    /// Pairing has failed, and the peer is to be told this.
    case fail(SMP.Reason)
    /// The devices have made sure of each other, and this is the key that they have come to, of 16 octets.
    case agreed(Key128)
}

extension Key128 {
    /// A number that nobody can guess.
    static func random(using random: inout RandomSource) -> Self {
        let low = random.next(), high = random.next()
        return Self(wire: UInt128(high) << 64 | UInt128(low))
    }
}
