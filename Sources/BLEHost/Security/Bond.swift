package import BLEWire

/// The stored data of a bonded device.
///
/// It is created by pairing. When a peer has proven that the bond is with it, the bond is passed to the attribute
/// layer, which reports changes.
///
/// Core 6.0, Vol 3, Part C, 9.4.
package struct Bond: Equatable, Sendable {
    /// Who wanted a bond, which decides whether it gives way to others.
    package enum Origin: Int, Comparable, Sendable {
        /// The peer alone. There are few such bonds at a time, and the one that was of use longest ago gives way.
        case peer
        /// An app, which was connected to the peer when they paired, or when the bond was used later.
        case app
        /// The user, who was asked, or a program that provided out-of-band data or requested the pairing.
        case user

        package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
    }

    /// The identity address of the adapter on which the bond was made, and on which alone it is valid; `nil` for bonds
    /// from an earlier version, which are valid on any adapter until their key was used on one.
    package var adapter: DeviceAddress?
    /// The identity address of the device, as far as that is proved, or else the address that it had on the air when
    /// it paired.
    ///
    /// One that the device sent under a private address is only claimed: nothing is attributed to the device for it.
    package var identity: DeviceAddress
    /// The security of links that are encrypted with the key of this bond.
    package var security: LinkSecurity
    /// The size of that key in octets, 7 to 16.
    package var keySize: Int
    /// True if the key was made by LE Secure Connections.
    package var isSecureConnections = false
    /// Who wanted the bond; of one that an earlier version stored, that is not known, and it stays.
    package var wantedBy = Origin.user
    /// The LTK; `nil` if there is none.
    ///
    /// If this host is the peripheral, ``localLongTermKey`` takes precedence.
    package var longTermKey: LongTermKey?
    /// The LTK that this host distributed for links on which it is the peripheral; `nil` if both ends use one key, as
    /// with LE Secure Connections, or if this host distributed none.
    package var localLongTermKey: LongTermKey?
    /// The peer's IRK; `nil` if it has none.
    package var resolvingKey: Key128?
    /// The local CSRK; `nil` if none was distributed.
    package var localSigningKey: Key128?
    /// The peer's CSRK and counter; `nil` if it distributed none.
    package var remoteSigning: RemoteSigning?
    /// The users whose apps used the link when it was made, who may remove it; empty for the program of the host.
    package var users: [UInt32] = []
    /// The local server's data of this client.
    package var client = ClientMemory()
    /// The known attributes of the peer; `nil` if there are no reliable ones.
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

    /// How many users are kept of a bond at most.
    package static let mostUsers = 16

    /// Returns whether an app may see and remove the bond.
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

    /// Returns whether both are from the same pairing, regardless of later data.
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

/// A long term key and its identification.
///
/// Core 6.0, Vol 3, Part H, 2.4.2.3 and 3.6.2.
package struct LongTermKey: Equatable, Sendable {
    package let key: Key128
    /// Identifies the key after legacy pairing; 0 otherwise.
    package let random: UInt64
    /// Identifies the key after legacy pairing; 0 otherwise.
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
    /// The minimum counter of the next signature; `nil` when none is left.
    package private(set) var nextCounter: UInt32?

    package init(key: Key128, nextCounter: UInt32? = 0) {
        self.key = key
        self.nextCounter = nextCounter
    }

    /// Records a signature with this counter, so that it cannot be repeated.
    package mutating func use(_ counter: UInt32) { nextCounter = counter == .max ? nil : counter + 1 }

    /// Records that another process has used the counters below `other`; all of them if that is `nil`.
    package mutating func skip(to other: UInt32?) {
        guard let own = nextCounter, let other else { return nextCounter = nil }
        nextCounter = max(own, other)
    }
}
