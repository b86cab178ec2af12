package import BLEWire

/// What must be stored of a peer so that it can be connected again after a restart.
package struct PeerRecord: Equatable, Sendable {
    package var identifier: PeerIdentifier
    /// Where the peer was reached last.
    package var address: DeviceAddress
    /// The best name known.
    package var name: String?
    /// What is kept of the peer if it is bonded.
    package var bond: Bond?

    package init(identifier: PeerIdentifier, address: DeviceAddress, name: String? = nil, bond: Bond? = nil) {
        self.identifier = identifier
        self.address = address
        self.name = name
        self.bond = bond
    }
}
