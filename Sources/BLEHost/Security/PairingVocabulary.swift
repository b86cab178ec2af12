package import BLEWire

/// A question of pairing for the user, or something to display.
///
/// At most one is open; ``SecurityManager/answer(_:at:)`` takes the answer.
package enum PairingQuestion: Equatable, Sendable {
    /// Asks whether to pair with this device without MITM protection.
    ///
    /// Answered by ``PairingReply/confirm(_:)``. `replacesBond` is true if an existing bond with this device would be
    /// replaced, which may be the aim of an attacker.
    case consent(replacesBond: Bool)
    /// Displays a passkey, 0 to 999999, to be entered on the other device. The only answer is a cancellation.
    case display(passkey: UInt32)
    /// Asks for the passkey that the other device displays, or that the user enters on both; answered by
    /// ``PairingReply/passkey(_:)``.
    case enterPasskey
    /// Asks whether both devices display this number, 0 to 999999; answered by ``PairingReply/confirm(_:)``.
    case compare(UInt32)
}

/// The user's answer to a ``PairingQuestion``.
package enum PairingReply: Equatable, Sendable {
    case confirm(Bool)
    /// 0 to 999999; other values fail like a missing passkey.
    case passkey(UInt32)
    /// Ends pairing, whatever the question was, even without one.
    case cancel
}

/// The reason of a failed pairing.
///
/// An existing bond is unchanged.
package enum PairingFailure: Equatable, Sendable {
    /// This host ended it and told the peer this reason.
    case refused(SMP.Reason)
    /// The peer ended it.
    case refusedByPeer(SMP.Reason)
    /// Nothing was sent for 30 s. Pairing is not possible on this link any more, only on a new one.
    case timedOut
    /// The link could not be encrypted with the new key, or is not encrypted any more.
    case encryptionFailed
    /// The link ended first.
    case disconnected
    /// Earlier attempts failed; the next one is allowed at this time.
    case tooSoon(until: Instant)
    /// Nothing was sent, since this host has nothing that could authenticate the key that is needed: no display, no
    /// keyboard and no out-of-band data.
    case cannotAuthenticate
    /// Nothing was begun, since there is no agent to ask the user and the policy allows no pairing without one.
    case nobodyToAsk
}

/// A change of a link's encryption.
package enum EncryptionChange: Equatable, Sendable {
    /// Encryption is on, with a new key if it was on before.
    case on
    case off
    /// Encryption could not be started, or the key not be refreshed.
    case failed
}

/// Something that a security manager ignored.
package enum SecurityNote: Equatable, Sendable {
    /// An invalid packet.
    case malformed(PacketError)
    /// An unexpected or late packet.
    case unexpected(SMP.Opcode)
    /// An answer without a question.
    case unaskedReply
}

/// The strength of a key.
package struct PairingStrength: Equatable, Sendable {
    /// 7 to 16 octets.
    package var keySize: Int
    /// True if it was made with MITM protection.
    package var isAuthenticated: Bool
    /// True if it was made by LE Secure Connections, so that no listener knows it.
    package var isSecureConnections: Bool

    package init(keySize: Int, isAuthenticated: Bool, isSecureConnections: Bool) {
        self.keySize = keySize
        self.isAuthenticated = isAuthenticated
        self.isSecureConnections = isSecureConnections
    }

    /// Returns whether a key of this strength may replace one of another: it is weaker in no respect.
    package func isAtLeast(_ other: Self) -> Bool {
        keySize >= other.keySize && (isAuthenticated || !other.isAuthenticated)
            && (isSecureConnections || !other.isSecureConnections)
    }
}

/// The result of a pairing, after the link was encrypted with the new key and all keys were exchanged.
package struct PairingOutcome: Equatable, Sendable {
    /// The method of authentication.
    package let method: PairingMethod
    package let strength: PairingStrength
    /// The bond to store, with the keys of both devices; `nil` if one of them does not want to store anything.
    ///
    /// The identity in it is what the peer says that it is, and nothing more until
    /// ``Bond/proved(on:isTaken:isKeyTaken:)`` has compared it with the address that the peer had on the air.
    package let bond: Bond?

    package init(method: PairingMethod, strength: PairingStrength, bond: Bond?) {
        self.method = method
        self.strength = strength
        self.bond = bond
    }

    /// The security of the link from now on.
    package var security: LinkSecurity { strength.isAuthenticated ? .authenticated : .encrypted }
}
