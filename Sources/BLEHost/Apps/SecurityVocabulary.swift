package import BLEWire

/// A request about pairing and bonds.
package enum SecurityRequest: Equatable, Sendable {
    /// Makes this client an agent that asks the user with these input and output capabilities. With `nil`, the client
    /// is no longer an agent.
    ///
    /// An agent is asked about pairings on links that are used by apps of the same user; an administrator is asked
    /// about all pairings. If several agents can be asked, the host asks the one that became an agent last. If no agent
    /// can be asked, devices pair only as far as ``UnattendedPairing`` allows: with Just Works, and without replacing a
    /// bond.
    case setAgent(SMP.IOCapability?)
    /// Passes on the user's reply to ``SecurityEvent/asked(_:)`` about this peer. The reply has no effect unless this
    /// client is the last one that the host asked about the peer.
    case answer(PeerIdentifier, PairingReply)
    /// Pairs with a peer over a link that the client's app uses; if this host is the peripheral, asks the peer to pair.
    /// The result is ``SecurityEvent/paired(_:_:)`` or ``SecurityEvent/failed(_:_:)``.
    case pair(PeerIdentifier)
    /// Sets minimum requirements that apply while this session is open: weaker pairings are refused, and weaker bonds
    /// are not used.
    ///
    /// The policy applies to links that the client's app uses. With `everywhere`, it applies to all links; only an
    /// administrator can use `everywhere`. If several policies apply, the strictest value of each property counts, with
    /// one exception: unless a policy with `everywhere` forbids bonds, they are kept if at least one of the apps that
    /// use the link allows them.
    case setPolicy(PairingPolicy, everywhere: Bool = false)
    /// Makes this host's out-of-band data for one pairing. The app transfers the data to a device by means other than
    /// Bluetooth. The result is ``SecurityEvent/outOfBandDataMade(_:)``. The data replace earlier data that were made
    /// for the app.
    ///
    /// This request, ``takeOutOfBandData(_:from:)`` and ``takeTemporaryKey(_:with:)`` apply to links that the client's
    /// app uses, and to links whose pairing questions go to this client.
    case makeOutOfBandData
    /// Provides a peer's out-of-band data for the next pairing with the peer; `nil` to forget the data.
    case takeOutOfBandData(SecurityManager.OutOfBandData.DeviceData?, from: PeerIdentifier)
    /// Provides an out-of-band temporary key, which makes the next pairing with the peer a legacy pairing; `nil` to
    /// forget the key. Without a peer, the key is for the next device that pairs.
    case takeTemporaryKey(Key128?, with: PeerIdentifier?)
    /// Lists the bonds of the client's user or, if the client is an administrator, all bonds. The result is
    /// ``SecurityEvent/bonds(_:)``.
    case listBonds
    /// Removes one of the bonds that ``listBonds`` lists. A link to the peer ends if it is encrypted. The result is
    /// ``SecurityEvent/bonds(_:)``.
    case removeBond(PeerIdentifier)
}

/// An event about pairing and bonds.
package enum SecurityEvent: Equatable, Sendable {
    case asked(PairingInquiry)
    /// The question about this peer no longer needs an answer.
    case withdrawn(PeerIdentifier)
    /// A pairing has completed by this method; `isBonded` is true if the keys are stored.
    case paired(PeerIdentifier, PairingMethod, isBonded: Bool)
    case failed(PeerIdentifier, PairingFailure)
    /// The link to a peer is encrypted with a key of this strength, from a bond or a completed pairing; `isBonded` is
    /// true if the key is stored.
    case secured(PeerIdentifier, PairingStrength, isBonded: Bool)
    /// The bonds that the client may see, most recently used last.
    case bonds([BondedPeer])
    /// This host's out-of-band data.
    case outOfBandDataMade(SecurityManager.OutOfBandData.DeviceData)
}

/// The minimum requirements for pairings and for the bonds that are used.
///
/// Core 6.0, Vol 3, Part C, 10.2.4.
package struct PairingPolicy: Equatable, Sendable {
    /// True to reject devices that support only legacy pairing.
    package var requiresSecureConnections: Bool
    /// The minimum key size, in octets, 7 to 16.
    package var leastKeySize: Int
    /// True to store the keys of pairings; false to use them on one link only.
    package var keepsBonds: Bool
    /// The conditions under which this host may pair without an agent to ask the user.
    ///
    /// `nil` leaves the choice to the other clients or, if none of them makes it, to the host's configuration.
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

    /// Returns a policy with the stricter value of each property.
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
    /// The event that started the pairing that the question is about.
    package enum Cause: Equatable, Sendable {
        /// The peer started the pairing.
        case peer
        /// The peer rejected an app's request because of insufficient security.
        case refusal
        /// A client requested the pairing.
        case request
    }

    package let peer: PeerIdentifier
    /// The peer's name; `nil` if it is not known.
    ///
    /// The name proves nothing, because any device can use any name.
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
    /// The identity address of the device.
    ///
    /// If the device has not proved that the identity address is its own, this is an over-the-air address that the
    /// device has used.
    package let identity: DeviceAddress
    package let strength: PairingStrength

    package init(peer: PeerIdentifier, name: String?, identity: DeviceAddress, strength: PairingStrength) {
        self.peer = peer
        self.name = name
        self.identity = identity
        self.strength = strength
    }
}
