package import BLEWire

/// The stored data of a bonded device.
///
/// A pairing creates the bond. Once the peer has proved that the bond is its own, the host passes the bond to the
/// attribute layer, which reports changes to the bond.
///
/// Core 6.0, Vol 3, Part C, 9.4.
package struct Bond: Equatable, Sendable {
    /// The party that wanted a bond.
    ///
    /// The party determines whether the bond may be removed to make room for another bond.
    package enum Origin: Int, Comparable, Sendable {
        /// Only the peer. The number of such bonds is limited, and the least recently used one is dropped for a new
        /// one.
        case peer
        /// An app that was connected to the peer when the devices paired, or when the bond was used later.
        case app
        /// The user, if an agent asked the user about the pairing, or a program that provided out-of-band data or
        /// requested the pairing.
        case user

        package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
    }

    /// The identity address of the adapter on which the bond was made.
    ///
    /// The bond is valid only on that adapter.
    ///
    /// `nil` for a bond from an earlier version. Such a bond is valid on any adapter until its key has been used on
    /// one.
    package var adapter: DeviceAddress?
    /// The identity address of the device if it is proved, otherwise the over-the-air address that the device had when
    /// it paired.
    ///
    /// An identity address that a device sends while it uses a private address is only a claim, and gives the device no
    /// rights.
    package var identity: DeviceAddress
    /// The security of links that are encrypted with the key of this bond.
    package var security: LinkSecurity
    /// The size of the bond's key in octets, 7 to 16.
    package var keySize: Int
    /// True if the key was made by LE Secure Connections.
    package var isSecureConnections = false
    /// The party that wanted the bond.
    ///
    /// For a bond from an earlier version, the party is not known. It is assumed to be the user, so the bond is not
    /// removed.
    package var wantedBy = Origin.user
    /// The LTK; `nil` if there is none.
    ///
    /// If this host is the peripheral, ``localLongTermKey`` takes precedence.
    package var longTermKey: LongTermKey?
    /// The LTK that this host distributed for links on which it is the peripheral; `nil` if both devices use one key,
    /// as with LE Secure Connections, or if this host distributed none.
    package var localLongTermKey: LongTermKey?
    /// The peer's IRK; `nil` if the peer distributed none.
    package var resolvingKey: Key128?
    /// The local CSRK; `nil` if none was distributed.
    package var localSigningKey: Key128?
    /// The peer's CSRK and signature counter; `nil` if the peer distributed no CSRK.
    package var remoteSigning: RemoteSigning?
    /// The IDs of the users whose apps used the link when the bond was made, and who may remove the bond.
    ///
    /// Empty if only the program that contains the host used the link.
    package var users: [UInt32] = []
    /// The data that the local GATT server stores for the device.
    package var client = ClientMemory()
    /// The peer's stored attributes; `nil` if the host has none, or cannot rely on them.
    package var database: CachedDatabase?

    /// Creates the bond of a completed pairing.
    package init(
        identity: DeviceAddress,
        security: LinkSecurity = .encrypted,
        keySize: Int = 16,
        longTermKey: LongTermKey? = nil,
        remoteSigning: RemoteSigning? = nil
    ) {
        self.identity = identity
        self.security = security
        self.keySize = keySize
        self.longTermKey = longTermKey
        self.remoteSigning = remoteSigning
    }

    /// The maximum number of users of a bond.
    package static let mostUsers = 16

    /// Returns whether the app of `owner` may see and remove the bond.
    func belongs(to owner: ClientOwner) -> Bool {
        owner.isAdministrator || owner.user.map(users.contains) ?? false
    }

    /// The strength of the key.
    package var strength: PairingStrength {
        PairingStrength(
            keySize: keySize,
            isAuthenticated: security == .authenticated,
            isSecureConnections: isSecureConnections
        )
    }

    /// Returns whether both bonds are from the same pairing, even if their other data differ.
    func isOfSamePairing(as other: Self) -> Bool {
        longTermKey == other.longTermKey && localLongTermKey == other.localLongTermKey
            && resolvingKey == other.resolvingKey && localSigningKey == other.localSigningKey
    }

    /// Returns the LTK for a link with the given local role; `nil` if there is none.
    package func longTermKey(as role: LinkRole) -> LongTermKey? {
        switch role {
        case .central: longTermKey
        case .peripheral: localLongTermKey ?? longTermKey
        }
    }
}

/// An LTK and the values that identify it.
///
/// Core 6.0, Vol 3, Part H, 2.4.2.3 and 3.6.2.
package struct LongTermKey: Equatable, Sendable {
    package let key: Key128
    /// The random number (Rand) that, with ``diversifier``, identifies a key from legacy pairing; 0 for other keys.
    package let random: UInt64
    /// The diversifier (EDIV) that, with ``random``, identifies a key from legacy pairing; 0 for other keys.
    package let diversifier: UInt16

    package init(key: Key128, random: UInt64 = 0, diversifier: UInt16 = 0) {
        self.key = key
        self.random = random
        self.diversifier = diversifier
    }
}

/// The CSRK with which a device signs its writes, and the signature counter.
///
/// Core 6.0, Vol 3, Part C, 10.4; Part H, 2.4.2.1.
package struct RemoteSigning: Equatable, Sendable {
    /// The CSRK.
    package let key: Key128
    /// The minimum counter of the next signature; `nil` if all counters have been used.
    package private(set) var nextCounter: UInt32?

    package init(key: Key128, nextCounter: UInt32? = 0) {
        self.key = key
        self.nextCounter = nextCounter
    }

    /// Records a signature with this counter, so that the signature cannot be used again.
    package mutating func use(_ counter: UInt32) { nextCounter = counter == .max ? nil : counter + 1 }

    /// Records that another process has used all counters below `other` or, if `other` is `nil`, all counters.
    package mutating func skip(to other: UInt32?) {
        guard let own = nextCounter, let other else { return nextCounter = nil }
        nextCounter = max(own, other)
    }
}
