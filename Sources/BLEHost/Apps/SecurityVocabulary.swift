package import BLEWire

/// A request about pairing and bonds.
package enum SecurityRequest: Equatable, Sendable {
    /// Has the client ask the user from now on, with these means; `nil` ends that.
    ///
    /// It is asked about pairings on links that apps of its user use, and if it is an administrator about all. Of
    /// several that may be asked, the latest is. While none may, devices are paired as far as ``UnattendedPairing``
    /// allows it: by Just Works, and not in place of a bond.
    case attend(SMP.IOCapability?)
    /// The user's reply to ``SecurityEvent/asked(_:)`` about this peer. It counts only from the client that was asked.
    case answer(PeerIdentifier, PairingReply)
    /// Pairs with a peer over a link that the client's app uses, or asks the peer to; answered by
    /// ``SecurityEvent/paired(_:_:)`` or ``SecurityEvent/failed(_:_:)``.
    case pair(PeerIdentifier)
    /// Refuses pairings that come to less, and does not use bonds that are worth less, as long as this client is there.
    ///
    /// This counts on links that the client's app uses; `everywhere` on all, which takes an administrator. Of several
    /// clients, the strictest counts in each point, but an app that keeps no bonds does not keep others from it: on a
    /// link that another app uses as well, bonds are kept.
    case insist(PairingPolicy, everywhere: Bool = false)
    /// Makes what this host tells a device by other means than Bluetooth, for one pairing; answered by
    /// ``SecurityEvent/outOfBandDataMade(_:)``. What was made for the app before counts no more.
    ///
    /// This and the next two count on links that the client's app uses, and on those about which the client is asked.
    case makeOutOfBandData
    /// A peer's out-of-band data for the next pairing with it; `nil` to forget them.
    case takeOutOfBandData(SecurityManager.OutOfBandData.DeviceData?, from: PeerIdentifier)
    /// An out-of-band temporary key for the next pairing with a peer, which then uses legacy pairing; `nil` to forget
    /// it. Without a peer, it is for the next device that pairs.
    case takeTemporaryKey(Key128?, with: PeerIdentifier?)
    /// Lists the bonds of the client's user, or all for an administrator; answered by ``SecurityEvent/bonds(_:)``.
    case listBonds
    /// Forgets one of these bonds, and ends the link to the peer if there is one; answered by
    /// ``SecurityEvent/bonds(_:)``.
    case removeBond(PeerIdentifier)
}

/// An event about pairing and bonds.
package enum SecurityEvent: Equatable, Sendable {
    case asked(PairingInquiry)
    /// The question about this peer needs no answer any more.
    case withdrawn(PeerIdentifier)
    /// A pairing has completed, by this method; whether the keys are stored.
    case paired(PeerIdentifier, PairingMethod, isBonded: Bool)
    case failed(PeerIdentifier, PairingFailure)
    /// The link to a peer is encrypted with a key of this strength, from a bond or a completed pairing.
    case secured(PeerIdentifier, PairingStrength, isBonded: Bool)
    /// All bonds, most recently used last.
    case bonds([BondedPeer])
    /// This host's out-of-band data.
    case outOfBandDataMade(SecurityManager.OutOfBandData.DeviceData)
}

/// The minimum requirements for pairings and for the bonds that are used.
///
/// Core 6.0, Vol 3, Part C, 10.2.4.
package struct PairingPolicy: Equatable, Sendable {
    /// True if to reject devices that support only legacy pairing.
    package var requiresSecureConnections: Bool
    /// The minimum key size, in octets, 7 to 16.
    package var leastKeySize: Int
    /// True if to store the keys of pairings.
    ///
    /// Otherwise a pairing counts for one link.
    package var keepsBonds: Bool
    /// When this host pairs although there is no agent to ask the user; `nil` to leave that to other clients, or to
    /// the host's configuration if none of them says.
    package var unattended: UnattendedPairing?

    package init(
        requiresSecureConnections: Bool = false,
        leastKeySize: Int = SMP.keySizes.lowerBound,
        keepsBonds: Bool = true,
        unattended: UnattendedPairing? = nil
    ) {
        self.requiresSecureConnections = requiresSecureConnections
        self.keepsBonds = keepsBonds
        self.unattended = unattended
        self.leastKeySize = min(max(leastKeySize, SMP.keySizes.lowerBound), SMP.keySizes.upperBound)
    }

    /// Returns whether a key of this strength is sufficient.
    func admits(_ strength: PairingStrength) -> Bool {
        strength.keySize >= leastKeySize && (strength.isSecureConnections || !requiresSecureConnections)
    }

    /// Returns the stricter requirement of both in each respect.
    func joined(with other: Self) -> Self {
        Self(
            requiresSecureConnections: requiresSecureConnections || other.requiresSecureConnections,
            leastKeySize: max(leastKeySize, other.leastKeySize),
            keepsBonds: keepsBonds && other.keepsBonds,
            unattended: [unattended, other.unattended].compactMap(\.self).min()
        )
    }
}

/// A pairing question for the user.
package struct PairingInquiry: Equatable, Sendable {
    /// The cause of a pairing.
    package enum Cause: Equatable, Sendable {
        /// The peer started it.
        case peer
        /// The peer rejected an app's request.
        case refusal
        /// A client requested it.
        case request
    }

    package let peer: PeerIdentifier
    /// The peer's name, if known.
    ///
    /// Any device can use any name.
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

/// A bonded device.
package struct BondedPeer: Equatable, Sendable {
    package let peer: PeerIdentifier
    package let name: String?
    /// The identity address of the device, or one that it had on the air if it has not shown that the former is its
    /// own.
    package let identity: DeviceAddress
    package let strength: PairingStrength

    package init(peer: PeerIdentifier, name: String?, identity: DeviceAddress, strength: PairingStrength) {
        self.peer = peer
        self.name = name
        self.identity = identity
        self.strength = strength
    }
}
