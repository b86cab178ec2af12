package import BLEWire

/// What must be stored of a peer so that it can be connected again after a restart.
package struct PeerRecord: Equatable, Sendable {
    package var identifier: PeerIdentifier
    /// An address that the peer had on the air: the one that it keeps, or the private one with which it was bonded or
    /// met first.
    package var address: DeviceAddress
    /// What its GAP service says that it is called; `nil` if that was never read.
    package var name: String?
    /// What it called itself in advertisements that were heard last.
    package var advertisedName: String?
    /// What is kept of the peer if it is bonded with the adapter in use.
    package var bond: Bond?
    /// What is kept of it for other adapters.
    package internal(set) var otherBonds: [Bond] = []

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

    /// For how many adapters a bond with one peer is kept; beyond that, one of another adapter is forgotten.
    package static let mostBonds = 16

    /// The bonds with all adapters, one for each, in the order of their addresses.
    package var bonds: [Bond] {
        get { ([bond].compactMap(\.self) + otherBonds).sorted { ($0.adapter ?? .none) < ($1.adapter ?? .none) } }
        set {
            bond = newValue.first { $0.adapter == nil }
            otherBonds = newValue.filter { $0.adapter != nil }.suffix(Self.mostBonds - 1)
        }
    }

    /// The record as an adapter sees it: its own bond counts, or else one of which nobody knows who made it.
    package func seen(by adapter: DeviceAddress?) -> Self {
        var record = self, others = bonds
        let index = others.firstIndex { $0.adapter == adapter } ?? others.firstIndex { $0.adapter == nil }
        record.bond = index.map { others.remove(at: $0) }
        record.otherBonds = Array(others.suffix(Self.mostBonds - 1))
        return record
    }

    /// The identity address that the peer has proved, by having it on the air; `nil` if it has only shown private ones.
    package var provedIdentity: DeviceAddress? { address.onAir.isIdentity ? address.onAir : nil }

    /// The best name known: a GAP service says more than there is room for in an advertisement.
    package var bestName: String? { name ?? advertisedName }
}
