package import BLEWire

/// What must be stored of a peer so that it can be connected again after a restart.
package struct PeerRecord: Equatable, Sendable {
    package var identifier: PeerIdentifier
    /// Where the peer was reached last.
    package var address: DeviceAddress
    /// What its GAP service says that it is called; `nil` if that was never read.
    package var name: String?
    /// What it called itself in advertisements that were heard last.
    package var advertisedName: String?
    /// What is kept of the peer if it is bonded.
    package var bond: Bond?

    package init(
        identifier: PeerIdentifier,
        address: DeviceAddress,
        name: String? = nil,
        advertisedName: String? = nil,
        bond: Bond? = nil
    ) {
        self.identifier = identifier
        self.address = address
        self.name = name
        self.advertisedName = advertisedName
        self.bond = bond
    }

    /// The best name known: a GAP service says more than there is room for in an advertisement.
    package var bestName: String? { name ?? advertisedName }
}
