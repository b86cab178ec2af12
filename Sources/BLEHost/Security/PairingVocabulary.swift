package import BLEWire

/// A question for the user during a pairing, or a passkey to display.
///
/// At most one question is open at a time; ``SecurityManager/answer(_:at:)`` takes the answer.
package enum PairingQuestion: Equatable, Sendable {
    /// Asks whether to pair with this device without MITM protection.
    ///
    /// Answered by ``PairingReply/confirm(_:)``. `replacesBond` is true if an existing bond with this device would be
    /// replaced, which may be the aim of an attacker.
    case consent(replacesBond: Bool)
    /// Displays a passkey, 0 to 999999, to be entered on the other device. The only answer is a cancellation.
    case display(passkey: UInt32)
    /// Asks for the passkey that the other device displays, or that the user enters on both devices; answered by
    /// ``PairingReply/passkey(_:)``.
    case enterPasskey
    /// Asks whether both devices display this number, 0 to 999999; answered by ``PairingReply/confirm(_:)``.
    case compare(UInt32)
}

/// The user's answer to a ``PairingQuestion``.
package enum PairingReply: Equatable, Sendable {
    case confirm(Bool)
    /// A passkey, 0 to 999999. Any other value ends the pairing with the reason Passkey Entry Failed.
    case passkey(UInt32)
    /// Ends the pairing, even if no question is open.
    case cancel
}

/// The reason why a pairing failed.
///
/// An existing bond is unchanged.
package enum PairingFailure: Equatable, Sendable {
    /// This host ended the pairing and sent this reason to the peer.
    case refused(SMP.Reason)
    /// The peer ended the pairing for this reason.
    case refusedByPeer(SMP.Reason)
    /// The pairing was not complete 30 s after this host's last packet, or an earlier pairing on this link had timed
    /// out. Pairing is no longer possible on this link, only on a new link.
    case timedOut
    /// The link could not be encrypted with the new key, or is no longer encrypted.
    case encryptionFailed
    /// The link ended before the pairing was complete.
    case disconnected
    /// Earlier attempts failed, so the next attempt is not allowed before this time.
    case tooSoon(until: Instant)
    /// The pairing was not started, because this host cannot authenticate the key as required: it has no display, no
    /// keyboard and no out-of-band data.
    case cannotAuthenticate
    /// The pairing was not started, because there is no agent to ask the user and the policy allows no pairing without
    /// one.
    case noAgent
}

/// A change of a link's encryption.
package enum EncryptionChange: Equatable, Sendable {
    /// Encryption is on, with a new key if it was on before.
    case on
    case off
    /// Encryption could not be started, or the key could not be refreshed.
    case failed
}

/// A packet or answer that a security manager ignored.
package enum SecurityNote: Equatable, Sendable {
    /// An invalid packet.
    case malformed(PacketError)
    /// An unexpected or late packet.
    case unexpected(SMP.Opcode)
    /// The user answered although no question was open.
    case unsolicitedReply
}

/// The strength of a key.
package struct PairingStrength: Equatable, Sendable {
    /// The size of the key, 7 to 16 octets.
    package var keySize: Int
    /// True if the key was made with MITM protection.
    package var isAuthenticated: Bool
    /// True if the key was made by LE Secure Connections; an eavesdropper then cannot know it.
    package var isSecureConnections: Bool

    package init(keySize: Int, isAuthenticated: Bool, isSecureConnections: Bool) {
        self.keySize = keySize
        self.isAuthenticated = isAuthenticated
        self.isSecureConnections = isSecureConnections
    }

    /// The security of a link that is encrypted with a key of this strength.
    package var security: LinkSecurity { isAuthenticated ? .authenticated : .encrypted }

    /// Returns whether a key of this strength is in no respect weaker than a key of the strength `other`, and may
    /// therefore replace that key.
    package func isAtLeast(_ other: Self) -> Bool {
        keySize >= other.keySize && (isAuthenticated || !other.isAuthenticated)
            && (isSecureConnections || !other.isSecureConnections)
    }
}

/// The result of a successful pairing: the link is encrypted with the new key, and all keys have been exchanged.
package struct PairingOutcome: Equatable, Sendable {
    /// The method of authentication.
    package let method: PairingMethod
    package let strength: PairingStrength
    /// The bond to store, with the keys of both devices; `nil` if either device does not want to store keys.
    ///
    /// The identity address in the bond is only the peer's claim until ``Bond/proved(on:isTaken:isKeyTaken:)`` has
    /// compared it with the peer's over-the-air address.
    package let bond: Bond?

    package init(method: PairingMethod, strength: PairingStrength, bond: Bond?) {
        self.method = method
        self.strength = strength
        self.bond = bond
    }
}
