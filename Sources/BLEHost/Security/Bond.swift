package import BLEWire

/// What this host keeps of a device that it is bonded with, over links and over restarts.
///
/// Pairing makes it; whoever knows that a peer is the one that it was made with gives it to the attribute layer, which
/// says when something in it has changed.
///
/// Core 6.0, Vol 3, Part C, 9.4.
package struct Bond: Equatable, Sendable {
    /// Who wanted a bond, which decides whether it gives way to others.
    package enum Party: Int, Comparable, Sendable {
        /// The peer alone. There are few such bonds at a time, and the one that was of use longest ago gives way.
        case peer
        /// An app, which was connected to the peer when they paired, or when the bond was used later.
        case app
        /// The user, who was asked, or somebody who told out-of-band data or asked for the pairing.
        case user

        package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
    }

    /// The identity of the adapter that it was made on, and on which alone it counts; `nil` if that is not known, as of
    /// one that an earlier version stored: it counts on any until its key has been shown on one.
    package var adapter: DeviceAddress?
    /// The identity address of the device, as far as that is proved, or else the address that it had on the air when
    /// it paired.
    ///
    /// One that the device sent under a private address is only claimed: nothing is attributed to the device for it.
    package var identity: DeviceAddress
    /// How far links can be trusted that are encrypted with the key of this bond.
    package var security: LinkSecurity
    /// The length of that key in octets, 7 to 16.
    package var keySize: Int
    /// Whether the key was made by LE Secure Connections.
    package var isSecureConnections = false
    /// Who wanted the bond; of one that an earlier version stored, that is not known, and it stays.
    package var wantedBy = Party.user
    /// What links to the device are encrypted with; `nil` if there is no such key.
    ///
    /// If this host is the peripheral, ``localLongTermKey`` counts before it.
    package var longTermKey: LongTermKey?
    /// What this host gave the device to encrypt with when that is the central; `nil` if both use one key, as by LE
    /// Secure Connections, or this host gave none.
    package var localLongTermKey: LongTermKey?
    /// What the device makes its private addresses with; `nil` if it has none.
    package var resolvingKey: Key128?
    /// What this host signs with for the device; `nil` if it gave no such key.
    package var localSigningKey: Key128?
    /// What the device signs its writes with; `nil` if it gave no such key.
    package var remoteSigning: RemoteSigning?
    /// The users whose apps used the link when it was made, who may remove it; empty for the program of the host.
    package var users: [UInt32] = []
    /// What the own server remembers of the device as its client.
    package var client = ClientMemory()
    /// What is known of the device's own attributes; `nil` if nothing is that could be relied on.
    package var database: CachedDatabase?

    /// Creates the bond of a pairing that has just come to its end.
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

    /// Whether an app may see and remove the bond.
    func belongs(to owner: ClientOwner) -> Bool {
        owner.isAdministrator || owner.user.map(users.contains) ?? false
    }

    /// How much the key of this bond is worth.
    package var strength: PairingStrength {
        PairingStrength(
            keySize: keySize,
            isAuthenticated: security == .authenticated,
            isSecureConnections: isSecureConnections
        )
    }

    /// Whether one pairing made both, whatever was learnt of the device since.
    func isOfSamePairing(as other: Self) -> Bool {
        longTermKey == other.longTermKey && localLongTermKey == other.localLongTermKey
            && resolvingKey == other.resolvingKey && localSigningKey == other.localSigningKey
    }

    /// What a link is encrypted with on which this host has the given role; `nil` if there is no such key.
    package func longTermKey(as role: LinkRole) -> LongTermKey? {
        switch role {
        case .central: longTermKey
        case .peripheral: localLongTermKey ?? longTermKey
        }
    }
}

/// The key that two devices agreed on for their links.
///
/// Core 6.0, Vol 3, Part H, 2.4.2.3 and 3.6.2.
package struct LongTermKey: Equatable, Sendable {
    package let key: Key128
    /// Names the key if the devices paired the legacy way; 0 otherwise.
    package let random: UInt64
    /// Names the key if the devices paired the legacy way; 0 otherwise.
    package let diversifier: UInt16

    package init(key: Key128, random: UInt64 = 0, diversifier: UInt16 = 0) {
        self.key = key
        self.random = random
        self.diversifier = diversifier
    }
}

/// The key that a device signs its writes with, and how many of them it has signed.
///
/// Core 6.0, Vol 3, Part C, 10.4; Part H, 2.4.2.1.
package struct RemoteSigning: Equatable, Sendable {
    /// The Connection Signature Resolving Key.
    package let key: Key128
    /// The least counter that the next signature may have; `nil` when there is none left.
    package private(set) var nextCounter: UInt32?

    package init(key: Key128, nextCounter: UInt32? = 0) {
        self.key = key
        self.nextCounter = nextCounter
    }

    /// Notes a signature with this counter, so that it counts no second time.
    package mutating func use(_ counter: UInt32) { nextCounter = counter == .max ? nil : counter + 1 }

    /// Notes that another process has used the counters below `other`, or all of them if that is `nil`.
    package mutating func skip(to other: UInt32?) {
        guard let own = nextCounter, let other else { return nextCounter = nil }
        nextCounter = max(own, other)
    }
}
