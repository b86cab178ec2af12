package import BLEWire

/// What somebody who looks after pairing and bonds asks of the host.
package enum SecurityRequest: Equatable, Sendable {
    /// Asks the user from now on, in place of whoever did so before: this is what the user can be shown and asked. With
    /// `nil`, asks no more.
    ///
    /// While nobody asks, devices are paired as far as nobody has to be asked: Just Works, and not in place of a bond.
    case attend(SMP.IOCapability?)
    /// What the user says to ``SecurityEvent/asked(_:)`` about this peer.
    case answer(PeerIdentifier, PairingReply)
    /// Pairs with a peer that is connected, or asks it to; answered by ``SecurityEvent/paired(_:_:)`` or
    /// ``SecurityEvent/failed(_:_:)``.
    case pair(PeerIdentifier)
    /// Answered by ``SecurityEvent/bonds(_:)``.
    case listBonds
    /// Forgets a bond, and ends the link to the peer if there is one; answered by ``SecurityEvent/bonds(_:)``.
    case removeBond(PeerIdentifier)
}

/// What the host tells those who look after pairing and bonds.
package enum SecurityEvent: Equatable, Sendable {
    case asked(PairingInquiry)
    /// What was asked about this peer needs no answer any more.
    case withdrawn(PeerIdentifier)
    /// A pairing has come to its end; how the devices made sure of each other, and whether keys are kept.
    case paired(PeerIdentifier, PairingMethod, isBonded: Bool)
    case failed(PeerIdentifier, PairingFailure)
    /// All bonds, those that were of use last at the end.
    case bonds([BondedPeer])
}

/// A question to the user about one pairing.
package struct PairingInquiry: Equatable, Sendable {
    /// Why there is a pairing.
    package enum Cause: Equatable, Sendable {
        /// The peer wants it.
        case peer
        /// The peer refuses something that an app asked for.
        case refusal
        /// Somebody asked for it.
        case request
    }

    package let peer: PeerIdentifier
    /// What the peer is called, if that is known; anybody can be called so.
    package let name: String?
    package let question: PairingQuestion
    package let cause: Cause

    package init(peer: PeerIdentifier, name: String?, question: PairingQuestion, cause: Cause) {
        self.peer = peer
        self.name = name
        self.question = question
        self.cause = cause
    }
}

/// A device that this host is bonded with.
package struct BondedPeer: Equatable, Sendable {
    package let peer: PeerIdentifier
    package let name: String?
    /// Where the device is reached whatever address it uses on the air.
    package let identity: DeviceAddress
    package let strength: PairingStrength

    package init(peer: PeerIdentifier, name: String?, identity: DeviceAddress, strength: PairingStrength) {
        self.peer = peer
        self.name = name
        self.identity = identity
        self.strength = strength
    }
}
