package import BLEWire

/// What pairing wants to know of the user, or has to show.
///
/// One is open at a time; ``SecurityManager/answer(_:at:)`` takes the answer.
package enum PairingQuestion: Equatable, Sendable {
    /// Whether to pair with this device at all, without any protection against who may stand between.
    ///
    /// Answered by ``PairingReply/confirm(_:)``. `replacesBond` says that a bond of an earlier pairing with this device
    /// would be replaced, which somebody in between may be after.
    case consent(replacesBond: Bool)
    /// Shows a passkey, 0 to 999999, that is typed in at the other device; nothing is answered but a cancellation.
    case display(passkey: UInt32)
    /// Which passkey the other device shows, or the user types in at both; answered by ``PairingReply/passkey(_:)``.
    case enterPasskey
    /// Whether both devices show this number, 0 to 999999; answered by ``PairingReply/confirm(_:)``.
    case compare(UInt32)
}

/// What the user says to a ``PairingQuestion``.
package enum PairingReply: Equatable, Sendable {
    case confirm(Bool)
    /// 0 to 999999; anything else fails as a passkey that was not entered.
    case passkey(UInt32)
    /// Ends pairing, whatever was asked, and also if nothing was.
    case cancel
}

/// Why a pairing came to nothing; whatever was kept of an earlier one is as it was.
package enum PairingFailure: Equatable, Sendable {
    /// This host has ended it, and has told the peer why.
    case refused(SMP.Reason)
    /// The peer has ended it.
    case refusedByPeer(SMP.Reason)
    /// Nothing was sent for 30 s. No security manager may speak on this link any more; another link may be made.
    case timedOut
    /// The link could not be encrypted with the key that was made, or is encrypted no more.
    case encryptionFailed
    /// The link ended first.
    case disconnected
    /// Pairing was tried in vain and may be tried again at this time.
    case tooSoon(until: Instant)
    /// Nothing was sent, since this host has nothing that could authenticate the key that is needed: no display, no
    /// keyboard and no out-of-band data.
    case cannotAuthenticate
    /// Nothing was begun, since there is no agent to ask the user and the policy allows no pairing without one.
    case nobodyToAsk
}

/// What has become of the encryption of a link.
package enum EncryptionChange: Equatable, Sendable {
    /// It is on, with another key than before if it was on before.
    case on
    case off
    /// It could not be turned on, or the key not be changed.
    case failed
}

/// What a security manager passed over.
package enum SecurityNote: Equatable, Sendable {
    /// It is no packet.
    case malformed(PacketError)
    /// Nobody asked for it, or it is too late.
    case unexpected(SMP.Opcode)
    /// Nothing was asked that this could answer.
    case unaskedReply
}

/// How much a key is worth.
package struct PairingStrength: Equatable, Sendable {
    /// In octets, 7 to 16.
    package var keySize: Int
    /// Whether it was made so that nobody could stand in between.
    package var isAuthenticated: Bool
    /// Whether it was made by LE Secure Connections, so that nobody knows it who listened.
    package var isSecureConnections: Bool

    package init(keySize: Int, isAuthenticated: Bool, isSecureConnections: Bool) {
        self.keySize = keySize
        self.isAuthenticated = isAuthenticated
        self.isSecureConnections = isSecureConnections
    }

    /// Whether a key of this strength may take the place of one of another: it is weaker in nothing.
    package func isAtLeast(_ other: Self) -> Bool {
        keySize >= other.keySize && (isAuthenticated || !other.isAuthenticated)
            && (isSecureConnections || !other.isSecureConnections)
    }
}

/// What a pairing came to: there is one when the link is encrypted with the new key and each key that was to be given
/// has been.
package struct PairingOutcome: Equatable, Sendable {
    /// How the devices made sure of each other.
    package let method: PairingMethod
    package let strength: PairingStrength
    /// What is to be kept, with the keys of both devices in it; `nil` if one of them does not want to keep anything.
    ///
    /// The identity in it is what the peer says that it is, and nothing more until
    /// ``Bond/proved(on:isTaken:isKeyTaken:)`` has compared it with the address that the peer had on the air.
    package let bond: Bond?

    package init(method: PairingMethod, strength: PairingStrength, bond: Bond?) {
        self.method = method
        self.strength = strength
        self.bond = bond
    }

    /// How far the link can be trusted from now on.
    package var security: LinkSecurity { strength.isAuthenticated ? .authenticated : .encrypted }
}
